#include <gtest/gtest.h>

#include <random>

#include "field/dot_product.hpp"
#include "field/extension.hpp"

namespace tessera::test {
namespace {

using u128 = unsigned __int128;

std::uint64_t naive_reduce(u128 value) { return static_cast<std::uint64_t>(value % F::modulus); }

TEST(Goldilocks, agrees_with_naive_arithmetic_including_edges) {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> values{0, 1, 2, 0xFFFFFFFFULL, 0x100000000ULL, F::modulus - 1, F::modulus - 2, 1ULL << 63};
  for (int i = 0; i < 200; ++i) {
    values.push_back(random() % F::modulus);
  }
  for (const std::uint64_t a : values) {
    for (const std::uint64_t b : values) {
      const F fa = F::from_canonical(a);
      const F fb = F::from_canonical(b);
      ASSERT_EQ((fa + fb).value(), naive_reduce(u128{a} + b));
      ASSERT_EQ((fa - fb).value(), naive_reduce(u128{a} + F::modulus - b));
      ASSERT_EQ((fa * fb).value(), naive_reduce(u128{a} * b));
    }
  }
  for (int i = 0; i < 1000; ++i) {
    const u128 wide = u128{random()} << 64 | random();
    ASSERT_EQ(F::reduce128(wide).value(), naive_reduce(wide));
  }
  ASSERT_EQ(F::reduce128(~u128{0}).value(), naive_reduce(~u128{0}));
}

TEST(Goldilocks, signed_integers_and_inverse) {
  EXPECT_EQ(F::from_signed(-1) + F::one(), F::zero());
  EXPECT_EQ(F::from_signed(INT64_MIN) + F::from_signed(INT64_MAX), F::from_signed(-1));
  EXPECT_EQ(F::from_canonical(12345).inverse() * F::from_canonical(12345), F::one());
  EXPECT_EQ(F::root_of_unity(32).power(1ULL << 31), F::from_signed(-1));
}

TEST(Extension, multiplies_as_polynomials_modulo_x_squared_minus_seven) {
  std::mt19937_64 random(2);
  const auto draw = [&] { return F::from_unsigned(random()); };
  for (int i = 0; i < 1000; ++i) {
    const E a{draw(), draw()};
    const E b{draw(), draw()};
    const E product = a * b;
    ASSERT_EQ(product.c0, a.c0 * b.c0 + F::from_canonical(7) * a.c1 * b.c1);
    ASSERT_EQ(product.c1, a.c0 * b.c1 + a.c1 * b.c0);
    ASSERT_EQ(a * a.inverse(), E::one());
  }
  const F top = F::from_signed(-1);
  EXPECT_EQ((E{top, top} * E{top, top}), (E{F::from_canonical(8), F::from_canonical(2)}));
}

TEST(Extension, dot_products_agree_with_sums_of_products) {
  std::mt19937_64 random(3);
  const auto draw = [&] { return F::from_unsigned(random()); };
  const E top{F::from_signed(-1), F::from_signed(-1)};
  for (const std::size_t count : {0, 1, 2, 33, 1000}) {
    std::vector<E> a, b;
    E sum, sum_of_tops;
    for (std::size_t i = 0; i < count; ++i) {
      a.emplace_back(draw(), draw());
      b.emplace_back(draw(), draw());
      sum += a.back() * b.back();
      sum_of_tops += top * top;
    }
    EXPECT_EQ(dot(a, b), sum);
    const std::vector<E> tops(count, top);
    EXPECT_EQ(dot(tops, tops), sum_of_tops) << "every product carries";
  }
}

TEST(Extension, seven_is_a_non_residue) {
  EXPECT_EQ(F::from_canonical(7).power((F::modulus - 1) / 2), F::from_signed(-1));
}

}  // namespace
}  // namespace tessera::test
