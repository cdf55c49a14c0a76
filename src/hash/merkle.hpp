#pragma once

#include <span>
#include <vector>

#include "field/goldilocks.hpp"
#include "hash/blake2s.hpp"

namespace tessera {

/// Merkle trees over codeword columns, with BLAKE2s-256.
///   leaf = H(values, 8 bytes little endian each)     at least 128 bytes, a multiple of 64
///   node = H(left || right)                          exactly 64 bytes
/// Leaves and nodes are separated by their lengths (the hash's last block contains the length, and a leaf never has 64
/// bytes), and depth and leaf size come from the schedule, so a digest's level is never the prover's choice. Whole
/// 64-byte blocks keep the multi-lane kernel free of tails.
///
/// A multi-proof for sorted distinct positions: level by level from the leaves, ascending, the sibling of each known
/// node whose sibling is not known itself.
///
/// A leaf that is no whole number of blocks (hiding mode) is followed by zeros.
Digest hash_leaf(std::span<const F> values);
/// Leaves of `width` values each, one after the other.
std::vector<Digest> hash_leaves(std::span<const F> values, std::size_t width);
Digest hash_node(const Digest& left, const Digest& right);

/// Sorted, without repetition.
std::vector<std::size_t> distinct_positions(std::vector<std::size_t> drawn);

/// Indices of the siblings that the multi-proof contains at each level (level 0 = leaves; log_leaves levels).
std::vector<std::vector<std::size_t>> multiproof_siblings(std::span<const std::size_t> positions, unsigned log_leaves);

/// The root that leaves at distinct sorted `positions` and the siblings (all levels concatenated) lead to.
/// Requires siblings.size() as multiproof_siblings says.
Digest multiproof_root(std::span<const std::size_t> positions, std::vector<Digest> leaves,
                       std::span<const Digest> siblings, unsigned log_leaves);

}  // namespace tessera
