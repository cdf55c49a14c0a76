#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <string_view>
#include <vector>

#include "float_model/exponentials.hpp"

#include "../field/instruction_sets.hpp"

namespace tessera::test {
namespace {

std::vector<float> random_values(std::size_t size, float largest, std::mt19937_64& random) {
  std::vector<float> values(size);
  std::uniform_real_distribution<float> spread(-largest, largest);
  std::ranges::generate(values, [&] { return spread(random); });
  return values;
}

/// As a multiple of the last place's unit of what is expected.
double error(float found, double expected) {
  const auto single = static_cast<float>(expected);
  const double unit = std::nextafter(std::abs(single), std::numeric_limits<float>::infinity()) - std::abs(single);
  return std::abs(static_cast<double>(found) - expected) / unit;
}

TEST(Exponentials, of_differences_to_the_maximum) {
  with_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    std::mt19937_64 random(1);
    for (const std::size_t size : {1, 7, 8, 9, 16, 33, 1000}) {
      for (const float largest : {0.0F, 1.0F, 40.0F}) {
        const std::vector<float> given = random_values(size, largest, random);
        const float most = *std::ranges::max_element(given);
        std::vector<float> found = given;
        const double sum = exponentials<float>(found, most);
        EXPECT_NEAR(sum, std::accumulate(found.begin(), found.end(), 0.0), 1e-5 * sum);
        for (std::size_t i = 0; i < size; ++i) {
          EXPECT_LE(error(found[i], std::exp(static_cast<double>(given[i] - most))), 2.0) << given[i] - most;
        }
      }
    }
    std::vector<float> far(20, -1e30F);
    far[3] = 0;
    EXPECT_EQ(exponentials<float>(far, 0), 1.0);
    EXPECT_EQ(std::ranges::count(far, 0.0F), 19);
  });
}

TEST(Exponentials, activations) {
  with_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    std::mt19937_64 random(1);
    for (const float largest : {0.001F, 3.0F, 60.0F, 1e9F}) {
      const std::vector<float> z = random_values(997, largest, random);
      std::vector<float> found(z.size());
      gelu<float>(z, found);
      for (std::size_t i = 0; i < z.size(); ++i) {
        const double x = z[i];
        const double expected = x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
        EXPECT_NEAR(found[i], expected, 2e-6 * std::max(1.0, std::abs(expected))) << x;
      }
      silu<float>(z, found);
      for (std::size_t i = 0; i < z.size(); ++i) {
        const double expected = z[i] / (1 + std::exp(-static_cast<double>(z[i])));
        EXPECT_NEAR(found[i], expected, 1e-6 * std::max(1.0, std::abs(expected))) << z[i];
      }
    }
  });
}

TEST(Exponentials, soft_caps) {
  with_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    std::mt19937_64 random(1);
    for (const float largest : {1e-4F, 3.0F, 60.0F, 1e9F}) {
      const std::vector<float> z = random_values(997, largest, random);
      std::vector<float> found = z;
      soft_cap<float>(found, 50);
      for (std::size_t i = 0; i < z.size(); ++i) {
        EXPECT_LE(error(found[i], 50 * std::tanh(static_cast<double>(z[i]) / 50)), 8.0) << z[i];
      }
    }
  });
}

/// Instruction sets with fused multiply-add, whatever the length of their vectors.
TEST(Exponentials, have_the_same_bits_on_all_that_fuse) {
  std::mt19937_64 random(1);
  const std::vector<float> given = random_values(1001, 20.0F, random);
  std::vector<std::vector<float>> found;
  std::vector<double> sums;
  with_each_instruction_set([&](const char* name) {
    if (std::string_view(name).starts_with("AVX") || std::string_view(name) == "NEON") {
      std::vector<float> values = given;
      sums.push_back(exponentials<float>(values, 20.0F));
      std::vector<float> a(given.size());
      gelu<float>(given, a);
      values.insert(values.end(), a.begin(), a.end());
      silu<float>(given, a);
      values.insert(values.end(), a.begin(), a.end());
      a = given;
      soft_cap<float>(a, 7);
      values.insert(values.end(), a.begin(), a.end());
      found.push_back(values);
      EXPECT_EQ(found.back(), found.front()) << name;
      EXPECT_EQ(sums.back(), sums.front()) << name;
    }
  });
}

TEST(ExponentialsOfDoubles, are_those_of_the_library) {
  std::vector<double> values{-1, 0, -700.5};
  EXPECT_EQ(exponentials<double>(values, 0.0), std::exp(-1.0) + 1 + std::exp(-700.5));
  EXPECT_EQ(values[2], std::exp(-700.5));
  const std::vector<double> z{-2, 0.5};
  std::vector<double> found(2);
  silu<double>(z, found);
  EXPECT_EQ(found[1], 0.5 / (1 + std::exp(-0.5)));
  gelu<double>(z, found);
  std::vector<double> capped{-2, 70};
  soft_cap<double>(capped, 30);
  EXPECT_EQ(capped[1], 30 * std::tanh(70.0 / 30));
  EXPECT_NEAR(found[0], -1 - std::tanh(std::sqrt(2 / std::acos(-1.0)) * (-2 + 0.044715 * -8)), 1e-15);
}

}  // namespace
}  // namespace tessera::test
