#include "tensor/claim.hpp"

#include <gtest/gtest.h>

#include "random_values.hpp"

namespace tessera::test {
namespace {

TEST(Factor, table_and_evaluation_of_head_and_tail) {
  RandomElements random(1);
  for (unsigned head_bits = 0; head_bits <= 3; ++head_bits) {
    for (unsigned tail_bits = 0; tail_bits <= 3; ++tail_bits) {
      const Factor factor{random.elements(std::size_t{1} << head_bits), random.elements(tail_bits)};
      ASSERT_EQ(factor.bits(), head_bits + tail_bits);
      const std::vector<E> table = factor.table();
      ASSERT_EQ(table.size(), std::size_t{1} << factor.bits());
      for (std::size_t x = 0; x < table.size(); ++x) {
        const std::size_t low = x % (std::size_t{1} << tail_bits);
        EXPECT_EQ(table[x], factor.head[x >> tail_bits] * naive_eq(factor.tail, low));
      }
      const Point point = random.elements(factor.bits());
      EXPECT_EQ(factor.evaluate(point), naive_evaluate(table, point));
    }
  }
}

TEST(Factor, named_weights) {
  RandomElements random(2);
  for (unsigned bits = 0; bits <= 4; ++bits) {
    const std::size_t size = std::size_t{1} << bits;
    EXPECT_EQ(Factor::ones(bits).table(), std::vector<E>(size, E::one()));
    for (std::size_t index = 0; index < size; ++index) {
      std::vector<E> expected(size);
      expected[index] = E::one();
      EXPECT_EQ(Factor::one_hot(bits, index).table(), expected);
    }
    const Point point = random.elements(bits);
    EXPECT_EQ(Factor::at(point).table(), eq_table(point));
    const std::vector<E> vector = random.elements(size);
    EXPECT_EQ(Factor::of(vector).table(), vector);
  }
}

TEST(Factor, weights_multiply_over_dimensions) {
  RandomElements random(3);
  const TensorPoint at{random.elements(2), {}, random.elements(3)};
  const TensorPoint point{random.elements(2), {}, random.elements(3)};
  EXPECT_EQ(evaluate_weight(weight_at(at), point), eq(at[0], point[0]) * eq(at[2], point[2]));
  const std::vector<Factor> mixed{Factor::of(random.elements(4)), Factor::ones(0), {random.elements(2), point[0]}};
  EXPECT_EQ(evaluate_weight(mixed, point),
            naive_evaluate(mixed[0].table(), point[0]) * naive_evaluate(mixed[2].table(), point[2]));
}

}  // namespace
}  // namespace tessera::test
