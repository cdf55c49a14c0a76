#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "model/float_layers.hpp"

namespace tessera {
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

}  // namespace
}  // namespace tessera
