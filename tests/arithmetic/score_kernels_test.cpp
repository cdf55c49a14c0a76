#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "arithmetic/score_kernels.hpp"

#include "../field/instruction_sets.hpp"

namespace tessera::test {
namespace {

/// Sums of either sign, beyond 32 bits after the shift too, halves among them.
std::vector<std::int64_t> some_sums(std::size_t count, int shift) {
  std::mt19937_64 random(count + static_cast<std::size_t>(shift));
  std::vector<std::int64_t> sums(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto wide = static_cast<std::int64_t>(random()) >> (random() % 50 + 8);
    sums[i] = i % 5 == 0 ? (wide >> shift << shift) + (std::int64_t{1} << (shift - 1)) : wide;
  }
  return sums;
}

TEST(ScoreKernels, scores_and_remainders_are_those_of_the_sums) {
  with_each_instruction_set([](const char* target) {
    SCOPED_TRACE(target);
    for (const int shift : {1, 7, 15, 16}) {
      for (std::size_t count = 0; count < 40; ++count) {
        const std::vector<std::int64_t> sums = some_sums(count, shift);
        std::vector<std::int32_t> scores(count + 1, -7), alone(count + 1, -7);
        std::vector<std::uint16_t> remainders(count + 1, 7);
        const Extent extent = round_scores(sums.data(), count, shift, scores.data(), remainders.data());
        Extent expected{INT64_MAX, INT64_MIN};
        for (std::size_t i = 0; i < count; ++i) {
          const std::int64_t score = (sums[i] + (std::int64_t{1} << (shift - 1))) >> shift;
          expected.include(score);
          EXPECT_EQ(scores[i], static_cast<std::int32_t>(score)) << count << ", " << i;
          EXPECT_EQ(remainders[i] - (std::int64_t{1} << (shift - 1)), sums[i] - score * (std::int64_t{1} << shift));
        }
        EXPECT_EQ(extent.low, expected.low) << count;
        EXPECT_EQ(extent.high, expected.high) << count;
        (void)round_scores(sums.data(), count, shift, alone.data(), nullptr);
        EXPECT_EQ(alone, scores);
        EXPECT_EQ(scores[count], -7);
        EXPECT_EQ(remainders[count], 7);
      }
    }
  });
}

}  // namespace
}  // namespace tessera::test
