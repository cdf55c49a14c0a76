#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "arithmetic/integer_product.hpp"
#include "arithmetic/tables.hpp"

#include "../model/random_model.hpp"

namespace tessera::testing {
namespace {

TEST(ExpTable, rows_are_rounded_multiples_with_a_mark_at_zero) {
  for (const int exponent : {0, 5, 9, 12}) {
    const std::vector<std::int32_t> table = exp_table(exponent, 11);
    ASSERT_EQ(table.size(), 1U << 16);
    EXPECT_EQ(table[0], (1 << 26) + 1);
    for (std::size_t d = 1; d < table.size(); ++d) {
      const double real = 32768.0 * std::exp(-std::ldexp(static_cast<double>(d), -exponent));
      ASSERT_EQ(table[d] % 2048, 0);
      ASSERT_LE(std::fabs(table[d] / 2048 - real), 0.5 + 1e-9) << d;
    }
    EXPECT_EQ(table.back(), 0);
  }
  EXPECT_THROW(exp_table(13, 11), std::invalid_argument);
  EXPECT_THROW(exp_table(12, 14), std::invalid_argument);
}

TEST(GeluTable, rows_are_rounded_and_ties_are_below_x) {
  for (const int z_exponent : {0, 8, 11, 12, 15}) {
    for (const int g_exponent : {0, z_exponent / 2, z_exponent - 1, z_exponent}) {
      if (g_exponent < 0) {
        continue;
      }
      const std::vector<std::int16_t> table = gelu_table(z_exponent, g_exponent);
      ASSERT_EQ(table.size(), 1U << 16);
      for (int z = -32768; z < 32768; ++z) {
        const double x = std::ldexp(static_cast<double>(z), -z_exponent);
        const double slope = std::sqrt(2.0 / std::numbers::pi);
        const double real = 0.5 * x * (1.0 + std::tanh(slope * (x + 0.044715 * x * x * x)));
        const int value = table[static_cast<std::size_t>(z + 32768)];
        ASSERT_LE(std::fabs(value - std::ldexp(real, g_exponent)), 0.5 + 1e-9) << z;
      }
      EXPECT_EQ(table[32768], 0);
    }
  }
  // gelu(x) < x: half of the odd 32767 is a tie in float64 only
  EXPECT_EQ(gelu_table(11, 10).back(), 16383);
  EXPECT_THROW(gelu_table(10, 11), std::invalid_argument);
}

/// W*X with extreme entries against plain int64 sums.
void check_product(std::size_t out, std::size_t in, std::size_t columns, bool extreme) {
  std::mt19937_64 engine(out * 1000 + in + columns);
  const auto fill = [&](std::size_t size) {
    std::vector<std::int16_t> values(size);
    for (std::int16_t& value : values) {
      value = extreme ? std::int16_t{-32768} : static_cast<std::int16_t>(engine());
    }
    return values;
  };
  const auto w = fill(out * in);
  const auto x = fill(in * columns);
  std::vector<std::int64_t> result(out * columns, -1);
  const Range rows{1, out - 1};
  const RowBlock<const std::int16_t> held{"w", {1, out}, in, w.data() + in};
  EXPECT_THROW(multiply(held, {0, out}, ProductInput(x, in, columns), {}), std::logic_error);
  multiply(held, rows, ProductInput(x, in, columns), [&](std::size_t row, std::span<const std::int64_t> products) {
    ASSERT_TRUE(rows.contains(row));
    std::ranges::copy(products, result.begin() + static_cast<std::ptrdiff_t>(row * columns));
  });
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < in; ++i) {
        sum += std::int64_t{w[row * in + i]} * x[i * columns + column];
      }
      ASSERT_EQ(result[row * columns + column], sum) << in << ' ' << row << ' ' << column;
    }
  }
}

TEST(IntegerProduct, is_exact) {
  for (const std::size_t columns : {1, 2, 3, 4, 33}) {
    for (const std::size_t in : {1, 12, 255, 256, 257, 1000}) {
      check_product(9, in, columns, false);
      check_product(9, in, columns, true);
    }
    check_product(300, 64, columns, false);
  }
}

}  // namespace
}  // namespace tessera::testing
