#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "arithmetic/query_products.hpp"

#include "../field/instruction_sets.hpp"

namespace tessera::test {
namespace {

constexpr std::size_t beside = 5;  // values of other rows between those of a matrix

/// Rows of `columns` values that are `beside` wider in memory.
std::vector<std::int16_t> narrow_rows(std::size_t rows, std::size_t columns, bool extreme, std::mt19937& random) {
  std::vector<std::int16_t> values(rows * (columns + beside));
  for (std::int16_t& value : values) {
    value = extreme ? std::int16_t{-32768} : static_cast<std::int16_t>(random());
  }
  return values;
}

void check_weighed_rows(std::size_t count, std::size_t columns, bool extreme, std::mt19937& random) {
  constexpr std::size_t step = 3;
  const std::vector<std::int16_t> rows = narrow_rows(count, columns, extreme, random);
  const std::vector<std::int16_t> factors = narrow_rows(count, step, extreme, random);
  const std::size_t stride = columns + beside;
  std::vector<std::int64_t> sums(columns + 1, -1);
  weigh_rows(factors.data(), step, {rows.data(), stride}, count, columns, sums.data());
  for (std::size_t j = 0; j < columns; ++j) {
    std::int64_t expected = 0;
    for (std::size_t i = 0; i < count; ++i) {
      expected += std::int64_t{factors[i * step]} * rows[i * stride + j];
    }
    ASSERT_EQ(sums[j], expected) << j;
  }
  EXPECT_EQ(sums.back(), -1);
}

void check_multiplied_rows(std::size_t count, std::size_t columns, bool extreme, std::mt19937& random) {
  constexpr std::size_t step = 2;
  const std::vector<std::int16_t> rows = narrow_rows(count, columns, extreme, random);
  const std::size_t stride = columns + beside;
  std::vector<double> weights(columns);
  for (double& weight : weights) {
    weight = extreme ? (1 << 26) + 1 : static_cast<double>(random() >> 6U);
  }
  std::vector<double> sums(count * step, 0.5);
  multiply_rows({rows.data(), stride}, count, weights.data(), columns, sums.data(), step);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t expected = 0;
    for (std::size_t j = 0; j < columns; ++j) {
      expected += static_cast<std::int64_t>(weights[j]) * rows[i * stride + j];
    }
    ASSERT_EQ(sums[i * step], static_cast<double>(expected)) << i;
    ASSERT_EQ(sums[i * step + 1], 0.5);
  }
}

/// Whole blocks of columns and parts of one, and the largest products there are.
TEST(QueryProducts, are_exact) {
  with_each_instruction_set([](const char* target) {
    SCOPED_TRACE(target);
    std::mt19937 random(1);
    for (const std::size_t columns : {1, 2, 15, 16, 17, 31, 32, 100, 1000}) {
      for (const std::size_t count : {1, 2, 3, 64, 127}) {
        for (const bool extreme : {false, true}) {
          SCOPED_TRACE(::testing::Message() << count << " rows of " << columns);
          check_weighed_rows(count, columns, extreme, random);
          check_multiplied_rows(count, columns, extreme, random);
        }
      }
    }
  });
}

}  // namespace
}  // namespace tessera::test
