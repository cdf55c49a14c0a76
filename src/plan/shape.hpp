#pragma once

#include <cstddef>
#include <cstdint>

#include "parameters/table.hpp"

namespace tessera {

inline constexpr unsigned max_inverse_bits = 31;  // of I

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

/// eps' of norms on queries or keys: max(1, round(m*eps*2^(2a))), a the exponent of what is normed.
std::int64_t head_epsilon(const ModelShape& shape, double epsilon, std::int32_t exponent);
/// C*2^8, C = round(sqrt(m)*2^16), and the bits of floor(C*2^8/floor(sqrt(eps'))).
std::int64_t head_norm_numerator(const ModelShape& shape);
unsigned head_inverse_bits(const ModelShape& shape, std::int64_t epsilon);

/// What the values of the activation's table may be: int16 of GPT-2; else so that a*U stays below 2^62, up to 2^21.
std::int64_t most_activation(const ModelShape& shape);

/// Entries of the rotary table: cos and sin of (position, i < m/2).
inline std::size_t rotary_entries(const ModelShape& shape) { return shape.n_positions * shape.head_size(); }

/// floor(sqrt(value)) for 0 <= value < 2^62 + 2^33: the float64 root is off by less than 1.
std::int64_t floor_sqrt(std::int64_t value);

inline constexpr std::int64_t softmax_infinity = (1 << 16) + (1 << 15);  // INF, added to d above the diagonal
inline constexpr unsigned exp_table_log_size = 17;
inline constexpr unsigned gelu_table_log_size = 16;  // GPT-2's; else gate_bits
inline constexpr unsigned softmax_shift = 46;        // R = floor(2^46/D), y = rshift(O*R, 46)

}  // namespace tessera
