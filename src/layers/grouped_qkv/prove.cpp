#include "layers/grouped_qkv/grouped_qkv.hpp"
#include "layers/qkv/qkv.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

std::vector<WeightedClaim> run(ProverContext& context, const GroupedQkvPlan& qkv, const QkvClaims& consumers) {
  ProverTranscript& transcript = context.transcript;
  const Witness& witness = context.witness;
  const auto scope = transcript.scope("qkv");
  std::vector<TensorPoint> points;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = transcript.scope(qkv_names[i]);
    ReductionInput input{consumers[i]};
    input.claims.insert(input.claims.begin(), {weight_at(context.lookup.point(qkv.shape[i])), E::zero()});
    add_limit_claim(context.exceptions, qkv.value[i].clamp, input.claims);
    const IntegerTensor values = witness.view(qkv.value[i]);
    points.push_back(prove_claim_reduction(context, qkv.shape[i], std::span(&values, 1), std::span(&input, 1)).point);
    prove_requantization(context, qkv.remainder[i], points[i]);
  }
  std::vector<std::vector<E>> rotated;
  for (std::size_t i = 0; i < 2; ++i) {
    rotated.push_back(unrounded(context, context.plan.ranges[qkv.remainder[i].range], witness.view(qkv.value[i]),
                                witness.view(qkv.remainder[i]), context.exceptions.entries(qkv.value[i].clamp),
                                points[i], qkv.rotary.by_block()));
  }
  const std::vector<PointClaim> turned = prove_rotation(context, qkv.rotary, std::span(points).first(2), rotated);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto part = transcript.scope(qkv_names[i]);
    points[i] = qkv.head_norm[i] ? run(context, *qkv.head_norm[i], turned[i]).point : turned[i].point;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = transcript.scope(qkv_names[i]);
    if (qkv.bias[i]) {
      context.parameter("bias", *qkv.bias[i], weight_at({points[i].begin(), points[i].end() - 1}));
    }
  }
  std::vector<WeightedClaim> claims;
  std::vector<E> u;  // (block, feature) at the token's coordinates, which q and k share without norms
  for (std::size_t i = 0; i < 3; ++i) {
    const auto part = transcript.scope(qkv_names[i]);
    if (i == 0 || points[i].back() != points[i - 1].back()) {
      u = contract(witness.recorded[qkv.u], qkv.feature, {Axis{}, Axis{}, eq_table(points[i].back())}, context.comm);
    }
    const MatrixProductShape matrix{
        {qkv.weight[i]}, qkv.shape[i].dimensions()[0].bits(), qkv.feature.dimensions()[1].bits()};
    const PointClaim input = prove_matrix_product(context, matrix, points[i], u);
    claims.push_back({weight_at(input.point), input.value});
  }
  return claims;
}

}  // namespace tessera
