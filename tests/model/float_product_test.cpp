#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "float_model/float_layers.hpp"

namespace tessera::test {
namespace {

std::vector<float> random_values(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(count);
  for (float& value : values) {
    value = uniform(generator);
  }
  return values;
}

/// Rows of X: single ones, all numbers of a tile's rows and of two tiles, and more than those.
constexpr std::size_t row_counts[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 40};
/// More columns than are widened at once; outputs that fill no tile.
constexpr std::size_t inputs = 1100, outputs = 53;

template <class Real>
void compare(std::size_t rows, bool with_bias, double tolerance) {
  const std::vector<float> x = random_values(rows * inputs, 1);
  const std::vector<float> w = random_values(outputs * inputs, 2);
  const std::vector<float> bias = random_values(outputs, 3);
  const std::vector<Real> real_x(x.begin(), x.end()), real_bias(bias.begin(), bias.end());
  const FloatMatrix weight{w, 0.375};
  const std::vector<Real> found =
      linear<Real>(real_x, weight, inputs, with_bias ? std::span<const Real>(real_bias) : std::span<const Real>());
  ASSERT_EQ(found.size(), rows * outputs);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t o = 0; o < outputs; ++o) {
      double expected = with_bias ? bias[o] : 0;
      for (std::size_t i = 0; i < inputs; ++i) {
        expected += 0.375 * w[o * inputs + i] * x[row * inputs + i];
      }
      EXPECT_NEAR(found[row * outputs + o], expected, tolerance) << row << ", " << o;
    }
  }
}

TEST(FloatProduct, of_any_number_of_rows_by_definition) {
  for (const std::size_t rows : row_counts) {
    for (const bool with_bias : {false, true}) {
      SCOPED_TRACE(rows);
      compare<double>(rows, with_bias, 1e-12);
      compare<float>(rows, with_bias, 1e-4);
    }
  }
}

/// Sums in the order of the columns: which bits they have hangs neither on how many rows there are nor on threads.
TEST(FloatProduct, of_a_row_has_the_same_bits_among_any_others) {
  const std::vector<float> x = random_values(300 * inputs, 1);
  const std::vector<float> w = random_values(outputs * inputs, 2);
  const FloatMatrix weight{w, 0.375};
  const std::vector<float> all = linear<float>(x, weight, inputs);
  for (const std::size_t row : {0, 1, 17, 127, 128, 299}) {
    const std::vector<float> alone = linear<float>(std::span(x).subspan(row * inputs, inputs), weight, inputs);
    EXPECT_TRUE(std::ranges::equal(alone, std::span(all).subspan(row * outputs, outputs))) << row;
  }
}

TEST(FloatProduct, in_order_of_one_row_by_definition) {
  constexpr std::size_t columns = 21, inner = 70;
  const std::vector<float> a = random_values(inner, 1);
  const std::vector<float> b = random_values(columns * inner, 2);
  std::vector<float> of_rows(columns, 7), of_columns(columns, 7);
  multiply_in_order({true, 1, columns, inner}, {a.data(), inner}, {b.data(), inner}, {of_rows.data(), columns});
  multiply_in_order({false, 1, columns, inner}, {a.data(), inner}, {b.data(), columns}, {of_columns.data(), columns});
  for (std::size_t column = 0; column < columns; ++column) {
    double row = 0, turned = 0;
    for (std::size_t i = 0; i < inner; ++i) {
      row += static_cast<double>(a[i]) * b[column * inner + i];
      turned += static_cast<double>(a[i]) * b[i * columns + column];
    }
    EXPECT_NEAR(of_rows[column], row, 1e-5);
    EXPECT_NEAR(of_columns[column], turned, 1e-5);
  }
}

TEST(FloatProduct, in_order_is_that_of_linear) {
  constexpr std::size_t rows = 13, columns = 21, inner = 1030;
  const std::vector<float> a = random_values(rows * inner, 1);
  const std::vector<float> b = random_values(columns * inner, 2);
  const std::vector<float> expected = linear<float>(a, {b, 1}, inner);
  std::vector<float> found(rows * columns, 7);
  multiply_in_order({true, rows, columns, inner}, {a.data(), inner}, {b.data(), inner}, {found.data(), columns});
  EXPECT_EQ(found, expected);
  std::vector<float> turned(b.size());  // (inner, columns)
  for (std::size_t i = 0; i < inner; ++i) {
    for (std::size_t column = 0; column < columns; ++column) {
      turned[i * columns + column] = b[column * inner + i];
    }
  }
  std::vector<float> wide(rows * (columns + 3), 7);
  multiply_in_order({false, rows, columns, inner}, {a.data(), inner}, {turned.data(), columns},
                    {wide.data(), columns + 3});
  for (std::size_t row = 0; row < rows; ++row) {
    EXPECT_TRUE(std::ranges::equal(std::span(wide).subspan(row * (columns + 3), columns),
                                   std::span(expected).subspan(row * columns, columns)));
    EXPECT_EQ(wide[row * (columns + 3) + columns], 7);
  }
}

}  // namespace
}  // namespace tessera::test
