#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/requantization.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

WeightedClaim prove_qkv(ProverContext& context, const AttentionClaims& claims) {
  const auto scope = context.transcript.scope("qkv");
  const Plan& plan = context.plan;
  const Shape& shape = plan.shapes.block_qkv;
  const unsigned feature_bits = shape.dimensions()[1].bits();
  const TensorPoint looked_up = context.lookup.point(shape);
  const auto input = [&](const PointClaim& consumer) {
    return ReductionInput{
        {{weight_at(looked_up), E::zero()},
         {{Factor::at(consumer.point[0]), padded_to_feature(plan.model, feature_bits, consumer.point[1]),
           Factor::at(consumer.point[2])},
          E::zero()}}};
  };
  const std::array inputs{input(claims.q), input(claims.k), input(claims.v)};
  const std::array tensors{context.witness.q, context.witness.k, context.witness.v};
  const ReducedClaims reduced = prove_claim_reduction(context, shape, tensors, inputs);
  const TensorPoint& at = reduced.point;
  const auto product = [&](const RangeCheck& remainder, std::string_view label, ParameterId bias) {
    prove_requantization(context, remainder, at);
    context.parameter(label, bias, weight_at({at[0], at[1]}));
  };
  product(plan.q_remainder, "bias_q", bq);
  product(plan.k_remainder, "bias_k", bk);
  product(plan.v_remainder, "bias_v", bv);
  const Shape& features = plan.shapes.block_feature;
  const MatrixProductShape matrices{{wq, wk, wv}, shape.dimensions()[0].bits(), features.dimensions()[1].bits()};
  const PointClaim u = prove_matrix_product(
      context, matrices, at, contract(context.witness.u1, features, {Axis{}, Axis{}, eq_table(at[2])}, context.comm));
  return {weight_at(u.point), u.value};
}

}  // namespace tessera
