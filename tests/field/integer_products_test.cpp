#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "field/integer_products.hpp"

#include "instruction_sets.hpp"

namespace tessera::test {
namespace {

template <class T>
class IntegerProducts : public ::testing::Test {};
using Types = ::testing::Types<std::int16_t, std::uint16_t, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(IntegerProducts, Types);

template <class T>
void compare_with_plain_arithmetic() {
  std::mt19937_64 random(5);
  const auto element = [&] {
    const std::uint64_t drawn = random();
    return drawn % 4 == 0 ? F::from_signed(-1) : F::from_unsigned(drawn);
  };
  for (const std::size_t width : {1U, 2U, 4U, 8U, 16U, 32U, 64U, 128U}) {
    for (const std::size_t rows : {1U, 2U, 3U, 4U, 6U, 7U, 12U, 13U, 16U, 300U, 512U}) {
      std::vector<T> matrix(rows * width);
      for (T& value : matrix) {
        const std::uint64_t drawn = random();
        value = drawn % 3 == 0   ? std::numeric_limits<T>::min()
                : drawn % 3 == 1 ? std::numeric_limits<T>::max()
                                 : static_cast<T>(drawn >> 2);
      }
      std::vector<E> row_weights(rows);
      std::vector<E> column_weights(width);
      for (E& weight : row_weights) {
        weight = {element(), element()};
      }
      for (E& weight : column_weights) {
        weight = {element(), element()};
      }
      std::vector<E> combined(width, E::one());
      std::vector<E> dots(rows, E::one());
      std::vector<E> expected_combined = combined;
      std::vector<E> expected_dots = dots;
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < width; ++c) {
          const E value = E::from_signed(static_cast<std::int64_t>(matrix[r * width + c]));
          expected_combined[c] += row_weights[r] * value;
          expected_dots[r] += column_weights[c] * value;
        }
      }
      combine_integer_rows<T>(row_weights, matrix, combined);
      dot_integer_rows<T>(column_weights, matrix, dots);
      ASSERT_EQ(combined, expected_combined) << width << " " << rows;
      ASSERT_EQ(dots, expected_dots) << width << " " << rows;
    }
  }
}

/// Rows that lie in several matrices, from one of them on.
template <class T>
void compare_rows_in_pieces() {
  std::mt19937_64 random(6);
  const auto element = [&] { return E{F::from_unsigned(random()), F::from_unsigned(random())}; };
  constexpr std::size_t matrices = 40;
  for (const std::size_t width : {1U, 2U, 8U, 16U, 64U, 128U}) {
    std::vector<E> weights(matrices * width);
    std::ranges::generate(weights, element);
    const IntegerDots<T> dots(weights, width);
    for (const std::size_t rows : {1U, 3U, 4U, 20U, 64U}) {
      for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 40}, {3, 17}, {39, 1}}) {
        std::vector<T> values(count * rows * width);
        std::ranges::generate(values, [&] { return static_cast<T>(random()); });
        std::vector<E> sums(rows, E::one());
        std::vector<E> expected = sums;
        for (std::size_t m = 0; m < count; ++m) {
          for (std::size_t r = 0; r < rows; ++r) {
            for (std::size_t c = 0; c < width; ++c) {
              const auto value = static_cast<std::int64_t>(values[(m * rows + r) * width + c]);
              expected[r] += weights[(first + m) * width + c] * E::from_signed(value);
            }
          }
        }
        dots.add(first, values, sums);
        ASSERT_EQ(sums, expected) << width << " " << rows << " " << first;
      }
    }
  }
}

TYPED_TEST(IntegerProducts, rows_may_lie_in_several_matrices) {
  with_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    compare_rows_in_pieces<TypeParam>();
  });
}

TYPED_TEST(IntegerProducts, weights_made_ready_once_serve_many_matrices) {
  std::mt19937_64 random(7);
  for (const std::size_t rows : {2U, 16U, 64U}) {
    std::vector<E> weights(rows);
    std::ranges::generate(weights, [&] { return E{F::from_unsigned(random()), F::from_unsigned(random())}; });
    const IntegerCombination<TypeParam> combination(weights, 8);
    for (int matrix = 0; matrix < 3; ++matrix) {
      std::vector<TypeParam> values(rows * 8);
      std::ranges::generate(values, [&] { return static_cast<TypeParam>(random()); });
      std::vector<E> sums(8, E::one());
      std::vector<E> expected = sums;
      combination.add(values, sums);
      combine_integer_rows<TypeParam>(weights, values, expected);
      ASSERT_EQ(sums, expected) << rows;
    }
  }
}

TYPED_TEST(IntegerProducts, agree_with_plain_arithmetic_on_every_instruction_set) {
  with_each_instruction_set([](const char* name) {
    SCOPED_TRACE(name);
    compare_with_plain_arithmetic<TypeParam>();
  });
}

TEST(IntegerProductsExtremes, many_rows_of_the_largest_values_do_not_overflow) {
  const std::size_t rows = (std::size_t{1} << 16) + 8;
  const std::vector<E> weights(rows, E{F::from_signed(-1), F::from_canonical(0xFFFFFFFFULL)});
  const std::vector<std::uint16_t> matrix(rows * 16, 0xFFFF);
  std::vector<E> sums(16);
  combine_integer_rows<std::uint16_t>(weights, matrix, sums);
  const E expected = weights[0] * F::from_canonical(0xFFFF) * F::from_canonical(rows);
  EXPECT_EQ(sums, std::vector<E>(16, expected));
}

}  // namespace
}  // namespace tessera::test
