#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "plan/shape.hpp"

namespace tessera {

// What this version supports. Keys and model files are checked against it where they are read, so that later code can
// rely on it; the integer bounds behind the numbers are in src/spec/transformer.md. Limits that only checks need stand
// in the table alone.

inline constexpr std::size_t max_vocabulary = std::size_t{1} << 20;
inline constexpr std::size_t max_positions = 4096;
inline constexpr std::int32_t max_score_exponent = 12;
inline constexpr std::int32_t max_mlp_exponent = 15;  // of a plain MLP; else gate_bits - 1
inline constexpr std::int64_t max_epsilon = std::int64_t{1} << 32;
inline constexpr std::size_t max_merges = 4 * max_vocabulary;
inline constexpr std::size_t max_vocabulary_bytes = std::size_t{1} << 26;
inline constexpr std::size_t max_chat_template = std::size_t{1} << 17;  // bytes
inline constexpr unsigned max_log_rows = 7;
inline constexpr std::uint32_t max_top_k = 1024;
inline constexpr std::uint32_t max_cutoff = 65300;  // the last row of `weights` that is not 0
inline constexpr int most_shift_after = 34;
inline constexpr std::size_t max_windows = 4;        // kinds; the verifier evaluates each mask
inline constexpr std::size_t max_pass_length = 128;  // rows, and keys, of a score tile

/// A number of a key or a statement and what it may be.
struct Limit {
  std::string_view name;
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::string_view why;
  [[nodiscard]] bool allows(std::integral auto value) const {
    return std::cmp_less_equal(least, value) && std::cmp_less_equal(value, most);
  }
};
/// All limits, in the order of the key: what the checks go by and what src/spec/transformer.md lists.
std::span<const Limit> limits();
/// The limit of that name.
const Limit& limit_of(std::string_view name);
/// The error of check_limit().
[[noreturn]] void refuse_limit(const Limit& limit, const std::string& found, std::string_view field);
/// Throws InputError naming the field (`field`, or the limit's name) unless the limit allows the value.
void check_limit(std::string_view name, std::integral auto value, std::string_view field = {}) {
  if (const Limit& limit = limit_of(name); !limit.allows(value)) {
    refuse_limit(limit, std::to_string(value), field);
  }
}

/// Whether a statement may have it.
bool is_pass_length(std::uint64_t value);
inline constexpr std::string_view pass_length_text = "a power of two from 1 to 128";

/// Throws InputError naming the field unless the shape is supported.
void check_shape(const ModelShape& shape);
/// Throws InputError naming the width that is out of range.
void check_widths(const ModelShape& shape, const Widths& widths);
/// Throws InputError naming the exponent, shift or left shift that is out of range.
void check_exponents(const ModelShape& shape, const Exponents& exponents, const Widths& widths = {});
/// eps' of norms on queries or keys.
void check_head_epsilon(const ModelShape& shape, HeadNormOf of, std::int64_t epsilon, std::string_view field);
/// eps' of norms behind branches.
void check_branch_epsilon(const ModelShape& shape, std::int64_t epsilon, std::string_view field);
/// eps' of the norms over features: positive, bounded, and I = floor(C*2^xi/floor(sqrt(eps'))) has at most 31 bits.
void check_epsilon(const ModelShape& shape, std::int64_t epsilon, const Widths& widths = {});

}  // namespace tessera
