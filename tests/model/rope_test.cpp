#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "checkpoints/rope.hpp"

namespace tessera::test {
namespace {

TEST(Rope, plain_and_linear_frequencies) {
  const std::vector<double> plain = rotary_frequencies({.theta = 10000}, 8);
  const std::vector<double> linear =
      rotary_frequencies({.theta = 10000, .scaling = RopeScaling::linear, .factor = 4}, 8);
  ASSERT_EQ(plain.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(plain[i], std::pow(10.0, -static_cast<double>(i)));
    EXPECT_DOUBLE_EQ(linear[i], plain[i] / 4);
  }
}

// theta, head size and scaling of Llama 3.2 with a billion parameters; numbers by the definition
TEST(Rope, llama3_frequencies) {
  const std::vector<double> found =
      rotary_frequencies({.theta = 500000, .scaling = RopeScaling::llama3, .factor = 32}, 64);
  const std::map<std::size_t, double> expected = {{0, 1.0},
                                                  {14, 0.0032114459947525913},
                                                  {15, 0.001290547928209264},
                                                  {16, 0.00042955679655936815},
                                                  {17, 9.70828780262767e-05},
                                                  {31, 9.418306725434909e-08}};
  ASSERT_EQ(found.size(), 32U);
  for (const auto& [i, frequency] : expected) {
    EXPECT_NEAR(found[i] / frequency, 1, 1e-14) << i;
  }
}

TEST(Rope, values_are_all_cosines_then_all_sines) {
  ModelShape shape{1, 8, 2, 8, 10, 5, rotary_layers, 1, 6};
  const Rope rope{.theta = 100};
  const std::vector<double> frequencies = rotary_frequencies(rope, 6);
  const std::vector<double> values = rotary_values(rope, shape);
  ASSERT_EQ(values.size(), 2U * 5 * 3);
  for (std::size_t position = 0; position < 5; ++position) {
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(values[position * 3 + i], std::cos(static_cast<double>(position) * frequencies[i]));
      EXPECT_EQ(values[15 + position * 3 + i], std::sin(static_cast<double>(position) * frequencies[i]));
    }
  }
}

}  // namespace
}  // namespace tessera::test
