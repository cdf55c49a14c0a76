#include <algorithm>
#include <bit>
#include <cmath>
#include "base/bits.hpp"
#include "plan/shape.hpp"

namespace tessera {
std::int64_t floor_sqrt(std::int64_t value) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(value)));
  while (root * root > value) {
    --root;
  }
  while ((root + 1) * (root + 1) <= value) {
    ++root;
  }
  return root;
}

namespace {

/// C*2^xi.
std::int64_t numerator_of(const ModelShape& shape, const Widths& widths) {
  return std::llround(std::sqrt(static_cast<double>(shape.n_embd)) * 0x1p16) << widths.norm_shift;
}

}  // namespace

std::int64_t IntegerConstants::least_epsilon(const ModelShape& shape, const Widths& widths) {
  const std::int64_t root = (numerator_of(shape, widths) >> max_inverse_bits) + 1;
  return root * root;
}

IntegerConstants IntegerConstants::of(const ModelShape& shape, double layer_norm_epsilon, const Exponents& exponents,
                                      const Widths& widths) {
  const double epsilon = static_cast<double>(shape.n_embd) * std::ldexp(layer_norm_epsilon, 2 * exponents.residual);
  return of(shape, std::max(least_epsilon(shape, widths), std::int64_t{std::llround(epsilon)}), widths);
}

IntegerConstants IntegerConstants::of(const ModelShape& shape, std::int64_t epsilon, const Widths& widths) {
  IntegerConstants constants;
  constants.epsilon = epsilon;
  constants.norm_numerator = numerator_of(shape, widths);
  constants.kappa = ceil_log2(shape.n_positions) + 1;
  constants.residual_bits = std::min(27U, (62 - ceil_log2(shape.n_embd)) / 2 + 1);
  const auto most_inverse = static_cast<std::uint64_t>(constants.norm_numerator / floor_sqrt(epsilon));
  constants.inverse_bits = static_cast<unsigned>(std::bit_width(most_inverse));
  return constants;
}

std::int64_t most_activation(const ModelShape& shape) {
  // |U| <= d*2^30
  return shape.gpt2() ? INT16_MAX : std::int64_t{1} << std::min(21U, 32U - ceil_log2(shape.n_embd));
}

std::int64_t head_epsilon(const ModelShape& shape, double epsilon, std::int32_t exponent) {
  const auto m = static_cast<double>(shape.head_size());
  return std::max<std::int64_t>(1, std::llround(std::ldexp(m * epsilon, 2 * exponent)));
}

std::int64_t head_norm_numerator(const ModelShape& shape) {
  return std::llround(std::sqrt(static_cast<double>(shape.head_size())) * 0x1p16) << 8;
}

unsigned head_inverse_bits(const ModelShape& shape, std::int64_t epsilon) {
  return static_cast<unsigned>(
      std::bit_width(static_cast<std::uint64_t>(head_norm_numerator(shape) / floor_sqrt(epsilon))));
}

}  // namespace tessera
