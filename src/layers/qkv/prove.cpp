#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/requantization.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

std::vector<WeightedClaim> run(ProverContext& context, const QkvPlan& qkv, const QkvClaims& consumers) {
  const auto scope = context.transcript.scope("qkv");
  const Shape& shape = qkv.qkv;
  std::array<ReductionInput, 3> inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].claims = consumers[i];
    inputs[i].claims.insert(inputs[i].claims.begin(), {weight_at(context.lookup.point(shape)), E::zero()});
    add_limit_claim(context.exceptions, qkv.value[i].clamp, inputs[i].claims);
  }
  const std::array tensors{context.witness.view(qkv.value[0]), context.witness.view(qkv.value[1]),
                           context.witness.view(qkv.value[2])};
  const ReducedClaims reduced = prove_claim_reduction(context, shape, tensors, inputs);
  const TensorPoint& at = reduced.point;
  const auto product = [&](RangeId remainder, std::string_view label, ParameterId bias) {
    prove_requantization(context, remainder, at);
    context.parameter(label, bias, weight_at({at[0], at[1]}));
  };
  product(qkv.remainder[0], "bias_q", qkv.bias[0]);
  product(qkv.remainder[1], "bias_k", qkv.bias[1]);
  product(qkv.remainder[2], "bias_v", qkv.bias[2]);
  const Shape& features = qkv.feature;
  const MatrixProductShape matrices{
      {qkv.weight.begin(), qkv.weight.end()}, shape.dimensions()[0].bits(), features.dimensions()[1].bits()};
  const PointClaim u = prove_matrix_product(
      context, matrices, at,
      contract(context.witness.recorded[qkv.u], features, {Axis{}, Axis{}, eq_table(at[2])}, context.comm));
  return {{weight_at(u.point), u.value}};
}

}  // namespace tessera
