#include "subprotocols/matrix_product.hpp"

namespace tessera {

std::vector<E> powers(E base, std::size_t count) {
  std::vector<E> result{E::one()};
  while (result.size() < count) {
    result.push_back(result.back() * base);
  }
  return result;
}

PointClaim verify_matrix_product(VerifierContext& context, const MatrixProductShape& product, const TensorPoint& at,
                                 std::span<const E> values) {
  const auto scope = context.transcript.scope("product");
  const std::size_t n = product.weights.size();
  const MatrixProductRelation relation{n > 1 ? powers(context.transcript.challenge("lambda"), n) : powers(E::one(), 1)};
  E target;
  for (std::size_t k = 0; k < n; ++k) {
    target += relation.scale[k] * values[k];
  }
  const SumcheckResult sumcheck =
      verify_sumcheck(context.transcript, target, product.block_bits + product.in_bits, relation.degree());
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + product.block_bits);
  const Point in(sumcheck.point.begin() + product.block_bits, sumcheck.point.end());
  std::vector<E> factors{eq(at[0], block), E::zero()};
  for (const ParameterId weight : product.weights) {
    factors.push_back(context.parameter("weight", weight, weight_at({block, at[1], in})));
  }
  factors[1] = context.transcript.receive("input");
  context.transcript.check(relation(factors) == sumcheck.value, "matrix product does not match the sum-check");
  return {{block, in, at[2]}, factors[1]};
}

}  // namespace tessera
