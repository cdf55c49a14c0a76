#pragma once

#include <optional>
#include "hash/merkle.hpp"
#include "memory/storage.hpp"

namespace tessera {

/// Nodes of one level of a tree, which may be many.
using TreeLevel = RawVector<Digest>;

/// BLAKE2s-256 of `digests.size()` messages of `length` bytes each, one after the other; length is a positive multiple
/// of 64. Many lanes side by side, in parallel; the same bytes as blake2s().
void blake2s_many(std::span<const std::uint8_t> messages, std::size_t length, std::span<Digest> digests);
/// BLAKE2s-256 of many messages as blake2s_many(), by the calling thread alone: a process that may not begin threads
/// reads files, too.
void blake2s_lanes(std::span<const std::uint8_t> messages, std::size_t length, std::span<Digest> digests);

/// BLAKE2s-256 of many messages of one length that come a part at a time, the same part of all of them together.
class ColumnHasher {
 public:
  ColumnHasher(std::size_t columns, std::size_t leaf_bytes);
  /// The next `length` bytes (a positive multiple of 64) of every column, one after the other.
  void absorb(std::span<const std::uint8_t> parts, std::size_t length);
  /// Absorbs the next `length` bytes of side_by_side() columns from `first` on, a multiple of it, by any thread;
  /// absorbed() is called when all columns have theirs.
  void absorb_group(std::size_t first, const std::uint8_t* parts, std::size_t length);
  void absorbed(std::size_t length) { absorbed_ += length; }
  /// Columns that a vector has lanes for.
  static std::size_t side_by_side();
  /// The leaves' digests, once leaf_bytes bytes of every column are absorbed.
  TreeLevel digests() &&;

 private:
  std::size_t columns_;
  std::size_t leaf_bytes_;
  std::uint64_t absorbed_ = 0;
  TreeLevel state_;  ///< of as many columns as a vector has lanes, word by word; digests at the end
};

/// The least of `count` nonces, a multiple of 64, from `first` on such that H(0x04 || state || nonce) begins with
/// `bits` (at most 32) zero bits, if there is one; many lanes, in parallel.
std::optional<std::uint64_t> find_nonce(const Digest& state, unsigned bits, std::uint64_t first, std::uint64_t count);

/// The nodes above an even number of nodes.
TreeLevel merkle_parents(std::span<const Digest> children);

/// All levels above (and with) these leaves: levels[0] = leaves, levels.back() = {root}.
std::vector<TreeLevel> merkle_levels(TreeLevel leaves);

}  // namespace tessera
