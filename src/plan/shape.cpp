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
  const double epsilon =
      static_cast<double>(shape.n_embd) * std::ldexp(layer_norm_epsilon, 2 * exponents[scales::residual]);
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

std::int64_t most_activation(const ModelShape& shape, const Widths& widths) {
  // |U| <= d*2^(14 + bits of what it is a product of)
  const unsigned bits = shape.norm_before() ? 16 : widths.stream_bits;
  return !shape.gated() ? INT16_MAX : std::int64_t{1} << std::min(21U, 48U - bits - ceil_log2(shape.n_embd));
}

std::size_t head_norm_features(const ModelShape& shape, HeadNormOf of) {
  if (!shape.norm_across_heads) {
    return shape.head_size();
  }
  return of == HeadNormOf::queries ? shape.query_features() : shape.key_features();
}

std::int64_t head_epsilon(const ModelShape& shape, HeadNormOf of, double epsilon, std::int32_t exponent) {
  const auto n = static_cast<double>(head_norm_features(shape, of));
  return std::max<std::int64_t>(1, std::llround(std::ldexp(n * epsilon, 2 * exponent)));
}

std::int64_t head_norm_numerator(const ModelShape& shape, HeadNormOf of) {
  return std::llround(std::sqrt(static_cast<double>(head_norm_features(shape, of))) * 0x1p16) << 8;
}

namespace {

unsigned most_bits(std::int64_t numerator, std::int64_t epsilon) {
  return static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(numerator / floor_sqrt(epsilon))));
}

}  // namespace

unsigned head_inverse_bits(const ModelShape& shape, HeadNormOf of, std::int64_t epsilon) {
  return most_bits(head_norm_numerator(shape, of), epsilon);
}

std::int64_t branch_norm_numerator(const ModelShape& shape) { return numerator_of(shape, Widths{}); }

std::int64_t branch_epsilon(const ModelShape& shape, double epsilon, std::int32_t exponent) {
  const double scaled = static_cast<double>(shape.n_embd) * std::ldexp(epsilon, 2 * exponent);
  return std::max(IntegerConstants::least_epsilon(shape, Widths{}), std::int64_t{std::llround(scaled)});
}

unsigned branch_inverse_bits(const ModelShape& shape, std::int64_t epsilon) {
  return most_bits(branch_norm_numerator(shape), epsilon);
}

}  // namespace tessera
