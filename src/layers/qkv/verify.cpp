#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S>
std::vector<WeightedClaimOf<S>> run(VerifierContext<S>& context, const QkvPlan& qkv, const QkvClaimsOf<S>& consumers) {
  const auto scope = context.transcript.scope("qkv");
  const Shape& shape = qkv.qkv;
  std::array<ReductionInputOf<S>, 3> inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].claims = consumers[i];
    inputs[i].claims.insert(inputs[i].claims.begin(),
                            {weight_at(context.lookup.point(shape)), context.lookup.value(qkv.value[i])});
    add_limit_claim(context.exceptions, qkv.value[i].clamp, inputs[i].claims);
  }
  const ReducedClaimsOf<S> reduced = verify_claim_reduction(context.transcript, shape, inputs);
  const TensorPoint& at = reduced.point;
  const auto product = [&](std::size_t i, std::string_view label) {
    const S rounded = reduced.values[i] + context.exceptions.excess_at(qkv.value[i].clamp, at);
    const S scaled = verify_requantization(context, qkv.remainder[i], at, rounded);
    return scaled - verify_bias(context, label, qkv.bias[i], qkv.bias_shift[i], shape, at);
  };
  const S q = product(0, "bias_q");
  const S k = product(1, "bias_k");
  const S v = product(2, "bias_v");
  const MatrixProductShape matrices{
      {qkv.weight.begin(), qkv.weight.end()}, shape.dimensions()[0].bits(), qkv.feature.dimensions()[1].bits()};
  const PointClaimOf<S> u = verify_matrix_product(context, matrices, at, std::array{q, k, v});
  return {{weight_at(u.point), u.value}};
}

#define INSTANTIATE(S) \
  template std::vector<WeightedClaimOf<S>> run(VerifierContext<S>&, const QkvPlan&, const QkvClaimsOf<S>&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
