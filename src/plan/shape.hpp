#pragma once

#include <cstddef>
#include <cstdint>

#include "parameters/table.hpp"

namespace tessera {

inline constexpr unsigned max_inverse_bits = 31;  // of I

enum class HeadNormOf : std::uint8_t { queries, keys };

/// The integer constants of src/spec/transformer.md, sections 1 and 3, of the norms over features and of soft-max.
struct IntegerConstants {
  /// Added to V: max(round(d*eps*2^(2*residual)), (floor(C*2^(xi-31)) + 1)^2), the least with which I has 31 bits.
  std::int64_t epsilon = 1;
  std::int64_t norm_numerator = 0;  // C*2^xi, C = round(sqrt(d)*2^16)
  unsigned kappa = 0;               // ceil(log2 n_positions) + 1
  unsigned residual_bits = 0;       // w_x = min(27, floor((62 - ceil(log2 d))/2) + 1), signed width of x and mu
  unsigned inverse_bits = 0;        // bits of floor(C*2^xi/floor(sqrt(eps')))
  static IntegerConstants of(const ModelShape& shape, double layer_norm_epsilon, const Exponents& exponents = {},
                             const Widths& widths = {});
  /// The constants that follow from the integer eps' of a verifying key.
  static IntegerConstants of(const ModelShape& shape, std::int64_t epsilon, const Widths& widths = {});
  /// The least eps' that keys may have: I = floor(C*2^xi/floor(sqrt(eps'))) has at most 31 bits.
  static std::int64_t least_epsilon(const ModelShape& shape, const Widths& widths);
};

/// Values that a norm on queries or keys is over: m, or those of all heads.
std::size_t head_norm_features(const ModelShape& shape, HeadNormOf of);
/// eps' of norms on queries or keys: max(1, round(n*eps*2^(2a))), a the exponent of what is normed, n its values.
std::int64_t head_epsilon(const ModelShape& shape, HeadNormOf of, double epsilon, std::int32_t exponent);
/// C*2^8, C = round(sqrt(n)*2^16), and the bits of floor(C*2^8/floor(sqrt(eps'))).
std::int64_t head_norm_numerator(const ModelShape& shape, HeadNormOf of);
unsigned head_inverse_bits(const ModelShape& shape, HeadNormOf of, std::int64_t epsilon);

/// eps' of norms behind branches, and the most bits of their I: max(round(d*eps*2^(2a)), least), a the exponent of what
/// is normed; the least is that of norms over features with xi = 14.
std::int64_t branch_epsilon(const ModelShape& shape, double epsilon, std::int32_t exponent);
unsigned branch_inverse_bits(const ModelShape& shape, std::int64_t epsilon);
/// C*2^14.
std::int64_t branch_norm_numerator(const ModelShape& shape);

/// What the values of the activation's table may be: int16 of a plain MLP; else so that a*U stays below 2^62, up to
/// 2^21.
std::int64_t most_activation(const ModelShape& shape, const Widths& widths);

/// Entries of the rotary tables: of each cos and sin of (position, i < m/2).
inline std::size_t rotary_entries(const ModelShape& shape) {
  return shape.rotations * shape.n_positions * shape.head_size();
}

/// floor(sqrt(value)) for 0 <= value < 2^62 + 2^33: the float64 root is off by less than 1.
std::int64_t floor_sqrt(std::int64_t value);

inline constexpr std::int64_t softmax_infinity = (1 << 16) + (1 << 15);  // INF, added to d above the diagonal
inline constexpr unsigned exp_table_log_size = 17;
inline constexpr unsigned gelu_table_log_size = 16;  // of a plain MLP; else gate_bits
inline constexpr unsigned cap_table_log_size = 16;
inline constexpr unsigned capped_score_bits = 20;  // signed, of the cap table's values
inline constexpr unsigned softmax_shift = 46;      // R = floor(2^46/D), y = rshift(O*R, 46)

}  // namespace tessera
