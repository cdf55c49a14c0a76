#include "plan/sides.hpp"
#include "layers/gated_mlp/gated_mlp.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"
#include "subprotocols/sum.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {
namespace {

/// Steps 3 to 6: from t at the look-up point and at m, or at one point where values of t may be clamped, to U at one
/// point.
template <class Side>
PointClaimFor<Side> gating(Side& context, const GatedMlpPlan& mlp, const PointClaimFor<Side>& t) {
  const auto scope = context.transcript.scope("gating");
  std::vector<SumFactor::ScaledPoint> points;  // of the claims on a*U
  ScalarFor<Side> claim;
  if (context.exceptions.checked(mlp.product.clamp)) {
    const auto product =
        requantized_claims(context, mlp.product, mlp.product_remainder, {{weight_at(t.point), t.value}});
    points = {{product.point}};
    claim = product.value;
  } else {
    const auto here = requantization(context, mlp.product_remainder, t.point, t.value);
    claim = requantized_at_lookup(context, mlp.product_remainder, context.lookup.value(mlp.product));
    const E gamma = context.transcript.challenge("gamma", 1, "combination of claims");
    points = {{context.lookup.point(mlp.inner)}, {t.point, gamma}};
    claim = claim + gamma * here;
  }
  const auto end = run_sum(context, TripleProductRelation{},
                           {mlp.inner,
                            {SumFactor::weight(points), SumFactor::committed("activation", mlp.activation.output),
                             SumFactor::sent("up", mlp.up_sum)}},
                           claim, "gated product does not match the sum-check");
  return {end.point, end.values[2]};
}

}  // namespace

template <class Side>
std::vector<WeightedClaimFor<Side>> run(Side& context, const GatedMlpPlan& mlp) {
  const auto scope = context.transcript.scope("gated_mlp");
  // the update of the residual stream is W_down*t
  const auto update = block_update(context, mlp);
  const auto out = branch_end(context, mlp.out_remainder, mlp.normed, context.lookup.point(mlp.feature), update);
  const auto t = matrix_product(context, mlp.down, out, {mlp.product, mlp.inner});
  // t is a*U, U is W_up*u
  const MatrixInput u{mlp.u, mlp.feature};
  const auto up = matrix_product(context, mlp.up, gating(context, mlp, t), u);
  // the activation's input is W_gate*u
  const E offset = presence_at(mlp.inner, context.lookup.point(mlp.inner)) * two_to_the(mlp.gate_bits - 1);
  const auto z = looked_up(context, mlp.activation.clamp, mlp.z, mlp.gate_remainder,
                           context.lookup.input(mlp.activation) - offset);
  const auto gate = matrix_product(context, mlp.gate, z, u);
  return {{weight_at(up.point), up.value}, {weight_at(gate.point), gate.value}};
}

#define INSTANTIATE(Side) template std::vector<WeightedClaimFor<Side>> run(Side&, const GatedMlpPlan&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
