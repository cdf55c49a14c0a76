#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "plan/shape.hpp"

namespace tessera {

// What this version supports. Keys and model files are checked against it where they are read, so that later code can
// rely on it; the integer bounds behind the numbers are in the README of src/.

inline constexpr std::size_t max_layers = 256;
inline constexpr std::size_t max_heads = 256;  // with max_layers: bounds the chunks of a key's tensors
inline constexpr std::size_t max_embedding = std::size_t{1} << 14;
inline constexpr std::size_t max_inner = std::size_t{1} << 16;
inline constexpr std::size_t max_vocabulary = std::size_t{1} << 20;
inline constexpr std::size_t max_positions = 4096;
inline constexpr std::int32_t max_exponent = 64;        // absolute value
inline constexpr int max_matmul_shift = 16;             // remainders of matrix products are one 16-bit piece
inline constexpr int max_norm_shift = 32;               // two pieces
inline constexpr int max_bias_shift = 46;               // |bias*2^b| < 2^61
inline constexpr std::int32_t max_score_exponent = 12;  // EXP reaches 0 before the table's edge
inline constexpr std::int32_t max_mlp_exponent = 15;    // GELU is tabulated for |x| >= 1 at least
inline constexpr std::int64_t max_epsilon = std::int64_t{1} << 32;  // V = .. + eps' < 2^62 + 2^33
inline constexpr std::size_t max_token_bytes = 1024;
inline constexpr std::size_t max_score_tiles = std::size_t{1} << 22;  // of all blocks and heads
inline constexpr std::size_t max_merges = 4 * max_vocabulary;         // several may make the same token
inline constexpr std::size_t max_vocabulary_bytes = std::size_t{1} << 26;
inline constexpr unsigned min_log_rows = 4;  // a Merkle leaf is longer than a node
inline constexpr unsigned max_log_rows = 7;
inline constexpr unsigned max_log_inverse_rate = 8;

/// A number of a key or a statement and what it may be.
struct Limit {
  std::string_view name;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::string_view why;
};
/// All limits, in the order of the key: what the checks go by and what src/README.md lists.
std::span<const Limit> limits();
/// Throws InputError naming the field (`field`, or the limit's name) unless the limit allows the value.
void check_limit(std::string_view name, std::int64_t value, std::string_view field = {});

/// Throws InputError naming the field unless the shape is supported.
void check_shape(const ModelShape& shape);
/// Throws InputError naming the exponent, shift or left shift that is out of range.
void check_exponents(const Exponents& exponents);
/// eps' of the layer norms: positive, bounded, and I = floor(C*2^14/floor(sqrt(eps'))) has at most 31 bits.
void check_epsilon(const ModelShape& shape, std::int64_t epsilon);

}  // namespace tessera
