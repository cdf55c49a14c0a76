#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hash/blake2s.hpp"

namespace tessera {

/// The digest of a dataset of a file, or of a key's byte string, whose bytes come in parts. Of at most 2^20 bytes it is
/// their BLAKE2s-256. More are cut into pieces of 2^14 bytes, of which the last may be shorter, and the digest is the
/// BLAKE2s-256 of "tessera pieces\n" and the pieces' BLAKE2s-256, in order: pieces are hashed side by side, where one
/// message makes each step wait for the one before.
class DatasetHash {
 public:
  static constexpr std::uint64_t most_in_one = std::uint64_t{1} << 20;
  static constexpr std::size_t piece_bytes = std::size_t{1} << 14;

  /// BLAKE2s-256 of `digests.size()` messages of `length` bytes each, one after the other, as blake2s_each().
  using HashMany = void (*)(std::span<const std::uint8_t> messages, std::size_t length, std::span<Digest> digests);

  /// Begins the digest of a dataset of this many bytes.
  explicit DatasetHash(std::uint64_t bytes, HashMany hash_many = blake2s_each);
  void update(std::span<const std::uint8_t> part);
  void update(std::span<const std::byte> part);
  [[nodiscard]] Digest digest();  ///< once, when all bytes have come

 private:
  void add_pieces(std::span<const std::uint8_t> pieces);

  HashMany hash_many_;
  bool in_one_;
  Blake2s hash_;                     // of the bytes, or of the pieces' digests
  std::vector<std::uint8_t> begun_;  // the piece that is not whole yet
};

/// The digest of bytes that are all there.
Digest dataset_digest(std::span<const std::byte> bytes, DatasetHash::HashMany hash_many = blake2s_each);

}  // namespace tessera
