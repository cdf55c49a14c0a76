#include <gtest/gtest.h>

#include "layers/attention/attention.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "layers/layer_norm/layer_norm.hpp"
#include "layers/value_norm/value_norm.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"
#include "tensor/contract.hpp"
#include "sumcheck/product_relations.hpp"

#include "../tensor/random_values.hpp"

namespace tessera::test {
namespace {

/// The degree along a random line is `degree`: the next forward difference vanishes, the last one does not.
template <Relation R>
void expect_degree(const R& relation, std::size_t degree, RandomElements& random) {
  const std::vector<E> base = random.elements(relation.factors());
  const std::vector<E> step = random.elements(relation.factors());
  std::vector<E> differences;
  for (std::size_t x = 0; x <= degree + 1; ++x) {
    std::vector<E> values;
    for (std::size_t k = 0; k < base.size(); ++k) {
      values.push_back(base[k] + step[k] * F::from_unsigned(x));
    }
    differences.push_back(relation(values));
  }
  while (differences.size() > 2) {
    for (std::size_t i = 0; i + 1 < differences.size(); ++i) {
      differences[i] = differences[i + 1] - differences[i];
    }
    differences.pop_back();
  }
  EXPECT_NE(differences[0], E::zero());
  EXPECT_EQ(differences[0], differences[1]);
  EXPECT_EQ(relation.degree(), degree);
}

TEST(Relations, formulas) {
  RandomElements random(1);
  const std::vector<E> v = random.elements(6);
  const E lambda = random.element();
  const F d = F::from_canonical(768);
  EXPECT_EQ(ProductRelation{}(std::span(v).first(2)), v[0] * v[1]);
  EXPECT_EQ(TripleProductRelation{}(std::span(v).first(3)), v[0] * v[1] * v[2]);
  EXPECT_EQ(ReductionRelation{3}(v), v[0] * v[3] + v[1] * v[4] + v[2] * v[5]);
  EXPECT_EQ(ReductionRelation{1}(std::span(v).first(2)), v[0] * v[1]);
  const MatrixProductRelation one{{E::one()}};
  const MatrixProductRelation three{powers(lambda, 3)};
  EXPECT_EQ(one(std::span(v).first(3)), v[0] * v[1] * v[2]);
  EXPECT_EQ(three(std::span(v).first(5)), v[0] * v[1] * (v[2] + lambda * v[3] + lambda * lambda * v[4]));
  {
    const auto& [mu, sum, sigma, inverse] = std::tie(v[0], v[1], v[2], v[3]);
    EXPECT_EQ((TokenRelation{d, lambda}(std::span(v).first(4))),
              d * mu * mu - mu * sum * F::from_canonical(2) - sigma * sigma + lambda * inverse * sigma);
  }
  {
    EXPECT_EQ(CentredGainRelation{}(std::span(v).first(3)), v[0] * (v[1] - v[2]));
    EXPECT_EQ(SquareRelation{}(std::span(v).first(1)), v[0] * v[0]);
  }
  EXPECT_EQ(RootRelation{lambda}(std::span(v).first(2)), lambda * v[1] * v[0] - v[0] * v[0]);
  {
    const auto& [at_u, x, inverse, gamma, at_token] = std::tie(v[0], v[1], v[2], v[3], v[4]);
    EXPECT_EQ(ValueNormRelation{lambda}(std::span(v).first(5)), at_u * x * inverse * gamma + lambda * at_token * x * x);
  }
}

TEST(Relations, degrees) {
  RandomElements random(2);
  const E lambda = random.element();
  expect_degree(ProductRelation{}, 2, random);
  expect_degree(TripleProductRelation{}, 3, random);
  expect_degree(ReductionRelation{3}, 2, random);
  expect_degree(MatrixProductRelation{powers(lambda, 3)}, 3, random);
  expect_degree(TokenRelation{F::from_canonical(5), lambda}, 2, random);
  expect_degree(CentredGainRelation{}, 2, random);
  expect_degree(SquareRelation{}, 2, random);
  expect_degree(RootRelation{lambda}, 2, random);
  expect_degree(ValueNormRelation{lambda}, 4, random);
}

TEST(Requantization, identity_holds_with_absent_chunks_and_padding) {
  SelfCommunicator self;
  RandomElements random(3);
  const std::vector<Shape> shapes{Shape({Dimension::outer(3), Dimension{13, 2}, Dimension::whole(4)}),
                                  Shape({Dimension::outer(3), Dimension{8, 1}, Dimension{8, 1}}, Presence::causal)};
  for (const Shape& shape : shapes) {
    for (const int shift : {1, 7, 16, 46}) {
      const auto noise = filled<std::int64_t>(shape, {}, static_cast<std::uint64_t>(shift), self);
      ChunkedTensor<std::int64_t> product(shape, {}, 0, 1);
      ChunkedTensor<std::int64_t> quotient(shape, {}, 0, 1);
      ChunkedTensor<std::int64_t> remainder(shape, {}, 0, 1);
      for (std::size_t i = 0; i < product.values().size(); ++i) {
        const std::int64_t value = noise.values()[i] >> 2;
        const std::int64_t rounded = value + (std::int64_t{1} << (shift - 1));
        product.values()[i] = value;
        quotient.values()[i] = rounded >> shift;
        remainder.values()[i] = rounded & ((std::int64_t{1} << shift) - 1);
      }
      const TensorPoint at = random.point(shape);
      const std::vector<Factor> weight = weight_at(at);
      const auto value_at = [&](const ChunkedTensor<std::int64_t>& tensor) {
        return weighted_sum(&tensor, shape, weight, self);
      };
      EXPECT_EQ(requantized(shape, at, value_at(quotient), value_at(remainder), static_cast<unsigned>(shift)),
                value_at(product));
    }
  }
}

}  // namespace
}  // namespace tessera::test
