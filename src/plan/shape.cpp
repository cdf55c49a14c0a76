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

IntegerConstants IntegerConstants::of(const ModelShape& shape, double layer_norm_epsilon) {
  const auto d = static_cast<double>(shape.n_embd);
  return of(shape, std::max<std::int64_t>(1, std::llround(d * layer_norm_epsilon * 0x1p24)));
}

IntegerConstants IntegerConstants::of(const ModelShape& shape, std::int64_t epsilon) {
  const auto d = static_cast<double>(shape.n_embd);
  IntegerConstants constants;
  constants.epsilon = epsilon;
  constants.norm_numerator = std::llround(std::sqrt(d) * 0x1p16) << 14;
  constants.kappa = ceil_log2(shape.n_positions) + 1;
  constants.residual_bits = std::min(27U, (62 - ceil_log2(shape.n_embd)) / 2 + 1);
  const auto most_inverse = static_cast<std::uint64_t>(constants.norm_numerator / floor_sqrt(epsilon));
  constants.inverse_bits = static_cast<unsigned>(std::bit_width(most_inverse));
  return constants;
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
