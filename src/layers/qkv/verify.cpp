#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

WeightedClaim verify_qkv(VerifierContext& context, const AttentionClaims& claims) {
  const auto scope = context.transcript.scope("qkv");
  const Plan& plan = context.plan;
  const Exponents& e = plan.exponents;
  const Shape& shape = plan.shapes.block_qkv;
  const unsigned feature_bits = shape.dimensions()[1].bits();
  const TensorPoint looked_up = context.lookup.point(shape);
  const auto input = [&](const RangeCheck& range, const PointClaim& consumer) {
    return ReductionInput{
        {{weight_at(looked_up), context.lookup.value(range)},
         {{Factor::at(consumer.point[0]), padded_to_feature(plan.model, feature_bits, consumer.point[1]),
           Factor::at(consumer.point[2])},
          consumer.value}}};
  };
  const std::array inputs{input(plan.q, claims.q), input(plan.k, claims.k), input(plan.v, claims.v)};
  const ReducedClaims reduced = verify_claim_reduction(context.transcript, shape, inputs);
  const TensorPoint& at = reduced.point;
  const auto product = [&](const RangeCheck& remainder, E value, std::string_view label, ParameterId bias,
                           int bias_shift) {
    const E scaled = verify_requantization(context, remainder, at, value);
    return scaled -
           context.parameter(label, bias, weight_at({at[0], at[1]})) * two_to_the(static_cast<unsigned>(bias_shift));
  };
  const E q = product(plan.q_remainder, reduced.values[0], "bias_q", bq, e.bias_q());
  const E k = product(plan.k_remainder, reduced.values[1], "bias_k", bk, e.bias_k());
  const E v = product(plan.v_remainder, reduced.values[2], "bias_v", bv, e.bias_v());
  const MatrixProductShape matrices{
      {wq, wk, wv}, shape.dimensions()[0].bits(), plan.shapes.block_feature.dimensions()[1].bits()};
  const PointClaim u = verify_matrix_product(context, matrices, at, std::array{q, k, v});
  return {weight_at(u.point), u.value};
}

}  // namespace tessera
