#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera {

/// The soft-max table: 2^16 rows d -> 2^kappa * round(2^15 * exp(-d * 2^-score_exponent)) + [d = 0]. Rows 2^16 .. 2^17
/// - 1 (positions above the diagonal) are 0 and not stored. Rounding of the real values, ties up; the same on every
/// machine. Throws std::invalid_argument unless 0 <= score_exponent <= 12 (so that the last row is 0) and 1 <= kappa
/// <= 13.
std::vector<std::int32_t> exp_table(std::int32_t score_exponent, unsigned kappa);

/// The table of soft caps: 2^16 rows z + 2^15 -> round(2^capped_exponent * cap*tanh(z * 2^-score_exponent / cap)).
/// Rounding of the real values; the same on every machine. Throws std::invalid_argument unless 0 < cap, 0 <=
/// score_exponent <= 15, -64 <= capped_exponent <= 12 and values have at most 20 bits; std::runtime_error for an entry
/// too close to a tie, a chance below 10^-3.
std::vector<std::int32_t> cap_table(double cap, std::int32_t score_exponent, std::int32_t capped_exponent);

/// The activation table: 2^bits rows z + 2^(bits-1) -> round(2^gelu_exponent * gelu(z * 2^-mlp_exponent)), tanh form
/// gelu(x) = x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))). Rounding of the real values, ties up; the same on every
/// machine. Throws std::invalid_argument unless 16 <= bits <= 18, 0 <= mlp_exponent < bits, 0 <= gelu_exponent <= 22
/// and values have at most 24 bits; std::runtime_error for an entry too close to a tie, a chance below 10^-3.
std::vector<std::int32_t> gelu_table(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits = 16);

/// The activation table of silu(x) = x/(1 + exp(-x)), the gate of SwiGLU; rows, rounding, limits and errors are those
/// of gelu_table().
std::vector<std::int32_t> silu_table(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits = 16);

/// The activation table of the exact GELU, x*Phi(x); rows, rounding, limits and errors are those of gelu_table().
std::vector<std::int32_t> erf_gelu_table(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits = 16);

/// The activation table of max(x, 0); rows, rounding and limits are those of gelu_table().
std::vector<std::int32_t> relu_table(std::int32_t mlp_exponent, std::int32_t gelu_exponent, unsigned bits = 16);

/// Activations by the names that checkpoints' files have for them here.
enum class ActivationKind : std::uint8_t { gelu, silu, erf_gelu, relu };
inline constexpr std::string_view activation_names[] = {"gelu", "silu", "erf_gelu", "relu"};
/// The table of an activation.
std::vector<std::int32_t> activation_table(ActivationKind kind, std::int32_t mlp_exponent, std::int32_t gelu_exponent,
                                           unsigned bits);

}  // namespace tessera
