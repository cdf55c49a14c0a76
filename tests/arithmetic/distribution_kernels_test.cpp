#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "arithmetic/distribution_kernels.hpp"

#include "../field/instruction_sets.hpp"

namespace tessera::test {
namespace {

constexpr std::size_t left_out = 3;  // tokens in front that take no part

/// Logits (rows, tokens), of few values each, so that largest ones are several.
std::vector<std::int64_t> some_logits(std::size_t rows, std::size_t tokens) {
  std::mt19937_64 random(rows + tokens);
  std::vector<std::int64_t> logits(rows * tokens);
  for (std::int64_t& logit : logits) {
    logit = (static_cast<std::int64_t>(random() % 9) - 4) * (std::int64_t{1} << 40U);
  }
  return logits;
}

TEST(DistributionKernels, the_first_of_the_largest_is_found) {
  with_each_instruction_set([](const char* target) {
    SCOPED_TRACE(target);
    constexpr std::size_t rows = 50;
    for (const std::size_t tokens : {1, 3, 4, 7, 8, 9, 64}) {
      const std::vector<std::int64_t> logits = some_logits(rows, tokens + left_out);
      std::vector<std::int64_t> largest(tokens + 1, std::numeric_limits<std::int64_t>::min()), where(tokens + 1, -1);
      const LogitRows some{logits.data() + left_out, rows, tokens, tokens + left_out};
      take_largest(some, largest.data(), where.data());
      for (std::size_t t = 0; t < tokens; ++t) {
        std::size_t first = 0;
        for (std::size_t row = 1; row < rows; ++row) {
          first = some.values[row * some.stride + t] > some.values[first * some.stride + t] ? row : first;
        }
        EXPECT_EQ(where[t], static_cast<std::int64_t>(first)) << t;
        EXPECT_EQ(largest[t], some.values[first * some.stride + t]) << t;
      }
      EXPECT_EQ(where[tokens], -1);
    }
  });
}

TEST(DistributionKernels, exponentials_are_those_of_reals) {
  with_each_instruction_set([](const char* target) {
    SCOPED_TRACE(target);
    constexpr std::size_t rows = 40;
    for (const std::size_t tokens : {1, 3, 4, 7, 8, 9, 64}) {
      for (const double scale : {0x1p-41, 0x1p-38, 0x1p-33}) {  // the last beyond what float64 has
        const std::vector<std::int64_t> logits = some_logits(rows, tokens + left_out);
        const std::vector<std::int64_t> largest(tokens, std::int64_t{1} << 42U);
        std::vector<double> sums(tokens + 1, 0.25);
        const LogitRows some{logits.data() + left_out, rows, tokens, tokens + left_out};
        add_exponentials(some, largest.data(), scale, sums.data());
        for (std::size_t t = 0; t < tokens; ++t) {
          double expected = 0.25;
          for (std::size_t row = 0; row < rows; ++row) {
            expected += std::exp(static_cast<double>(some.values[row * some.stride + t] - largest[t]) * scale);
          }
          EXPECT_NEAR(sums[t], expected, 1e-14 * expected) << t << ' ' << scale;
        }
        EXPECT_EQ(sums[tokens], 0.25);
      }
    }
  });
}

}  // namespace
}  // namespace tessera::test
