#include <gtest/gtest.h>

#include <limits>
#include <random>
#include "field/integer_products.hpp"
#include <vector>

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
