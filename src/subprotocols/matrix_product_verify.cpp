#include "subprotocols/matrix_product.hpp"

namespace tessera {

std::vector<Factor> matrix_weight(const Shape& weight, const Point& block, const TensorPoint& at, const Point& in) {
  std::vector<Factor> factors{Factor::at(block)};
  for (std::size_t j = 1; j + 1 < at.size(); ++j) {
    factors.push_back(Factor::at(at[j]));
  }
  for (Point& coordinates : deal(std::span(weight.dimensions()).subspan(factors.size()), in)) {
    factors.push_back(Factor::at(std::move(coordinates)));
  }
  return factors;
}

template <class S>
PointClaimOf<S> verify_matrix_product(VerifierContext<S>& context, const MatrixProductShape& product,
                                      const TensorPoint& at, std::type_identity_t<std::span<const S>> values) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("product");
  const std::size_t n = product.weights.size();
  const E lambda =
      n > 1 ? transcript.challenge("lambda", static_cast<double>(n - 1), "combination of products") : E::one();
  const MatrixProductRelation relation{powers(lambda, n)};
  S target{};
  for (std::size_t k = 0; k < n; ++k) {
    target += relation.scale[k] * values[k];
  }
  const auto sumcheck = verify_sumcheck(transcript, target, product.block_bits + product.in_bits, relation.degree());
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + product.block_bits);
  const Point in(sumcheck.point.begin() + product.block_bits, sumcheck.point.end());
  std::vector<S> factors{eq(at[0], block), E::zero()};
  for (const ParameterId weight : product.weights) {
    factors.push_back(
        context.parameter("weight", weight, matrix_weight(context.plan.parameter_shape(weight), block, at, in)));
  }
  factors[1] = transcript.receive("input");
  transcript.check_equal(transcript.value(relation, factors), sumcheck.value,
                         "matrix product does not match the sum-check");
  return {{block, in, at.back()}, factors[1]};
}

#define INSTANTIATE(S)                                                                                               \
  template PointClaimOf<S> verify_matrix_product(VerifierContext<S>&, const MatrixProductShape&, const TensorPoint&, \
                                                 std::span<const S>);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
