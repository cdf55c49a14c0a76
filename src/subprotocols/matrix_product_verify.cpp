#include "subprotocols/matrix_product.hpp"

namespace tessera {

unsigned MatrixInput::bits() const {
  if (heads != nullptr && !heads->whole()) {
    return ceil_log2(heads->features());
  }
  unsigned bits = 0;
  for (const Dimension& dimension : std::span(shape.dimensions()).subspan(1, shape.dimensions().size() - 2)) {
    bits += dimension.bits();
  }
  return bits;
}

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
PointClaimOf<S> matrix_product(VerifierContext<S>& context, const std::vector<ParameterId>& weights,
                               const TensorPoint& at, std::type_identity_t<const std::vector<S>&> values,
                               const MatrixInput& input) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("product");
  const std::size_t n = weights.size();
  const E lambda =
      n > 1 ? transcript.challenge("lambda", static_cast<double>(n - 1), "combination of products") : E::one();
  const MatrixProductRelation relation{powers(lambda, n)};
  S target{};
  for (std::size_t k = 0; k < n; ++k) {
    target += relation.scale[k] * values[k];
  }
  const auto block_bits = static_cast<unsigned>(at[0].size());
  const auto sumcheck = verify_sumcheck(transcript, target, block_bits + input.bits(), relation.degree());
  const Point block(sumcheck.point.begin(), sumcheck.point.begin() + block_bits);
  const Point in(sumcheck.point.begin() + block_bits, sumcheck.point.end());
  std::vector<S> factors{eq(at[0], block), E::zero()};
  for (const ParameterId weight : weights) {
    factors.push_back(
        context.parameter("weight", weight, matrix_weight(context.plan.parameter_shape(weight), block, at, in)));
  }
  factors[1] = transcript.receive("input");
  transcript.check_equal(transcript.value(relation, factors), sumcheck.value,
                         "matrix product does not match the sum-check");
  return {{block, in, at.back()}, factors[1]};
}

#define INSTANTIATE(S)                                                                                              \
  template PointClaimOf<S> matrix_product(VerifierContext<S>&, const std::vector<ParameterId>&, const TensorPoint&, \
                                          const std::vector<S>&, const MatrixInput&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
