#include "layers/gated_mlp/gated_mlp.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {
namespace {

/// Steps 4 to 6 where A has one claim.
template <class S>
PointClaimOf<S> verify_gating_at(VerifierContext<S>& context, const GatedMlpPlan& mlp, const PointClaimOf<S>& product) {
  VerifierView<S>& transcript = context.transcript;
  const auto sumcheck = verify_sumcheck(transcript, product.value, mlp.inner.bits(), TripleProductRelation{}.degree());
  const TensorPoint end = to_tensor_point(mlp.inner, sumcheck.point);
  const S activation = context.committed("activation", mlp.activation.output, weight_at(end));
  const S up = transcript.receive("up");
  const std::array<S, 3> factors{eq(to_flat_point(mlp.inner, product.point), sumcheck.point), activation, up};
  transcript.check_equal(transcript.value(TripleProductRelation{}, factors), sumcheck.value,
                         "gated product does not match the sum-check");
  return {end, up};
}

/// Steps 3 to 6: from t at the look-up point and at m to U at one point.
template <class S>
PointClaimOf<S> verify_gating(VerifierContext<S>& context, const GatedMlpPlan& mlp, const PointClaimOf<S>& t) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("gating");
  const TensorPoint at = context.lookup.point(mlp.inner);
  if (context.exceptions.checked(mlp.product.clamp)) {
    return verify_gating_at(
        context, mlp,
        verify_requantized_claims<S>(context, mlp.product, mlp.product_remainder, {{weight_at(t.point), t.value}}));
  }
  const S here = verify_requantization(context, mlp.product_remainder, t.point, t.value);
  const S looked_up = requantized_at_lookup(context, mlp.product_remainder, context.lookup.value(mlp.product));
  const E gamma = transcript.challenge("gamma", 1, "combination of claims");
  const auto sumcheck =
      verify_sumcheck(transcript, looked_up + gamma * here, mlp.inner.bits(), TripleProductRelation{}.degree());
  const TensorPoint end = to_tensor_point(mlp.inner, sumcheck.point);
  const S activation = context.committed("activation", mlp.activation.output, weight_at(end));
  const S up = transcript.receive("up");
  const E weight =
      eq(to_flat_point(mlp.inner, at), sumcheck.point) + gamma * eq(to_flat_point(mlp.inner, t.point), sumcheck.point);
  const std::array<S, 3> factors{weight, activation, up};
  transcript.check_equal(transcript.value(TripleProductRelation{}, factors), sumcheck.value,
                         "gated product does not match the sum-check");
  return {end, up};
}

}  // namespace

template <class S>
std::vector<WeightedClaimOf<S>> run(VerifierContext<S>& context, const GatedMlpPlan& mlp) {
  const auto scope = context.transcript.scope("gated_mlp");
  const auto& inner = mlp.inner.dimensions();
  const auto& outer = mlp.feature.dimensions();
  const unsigned block_bits = outer[0].bits();
  // the update of the residual stream is W_down*t
  const TensorPoint at = context.lookup.point(mlp.feature);
  const S out = requantized_at_lookup(context, mlp.out_remainder, verify_block_update(context, mlp));
  const auto t = verify_matrix_product(context, {{mlp.down}, block_bits, inner[1].bits()}, at, std::span(&out, 1));
  // t is a*U, U is W_up*u
  const PointClaimOf<S> sum = verify_gating(context, mlp, t);
  const auto up =
      verify_matrix_product(context, {{mlp.up}, block_bits, outer[1].bits()}, sum.point, std::span(&sum.value, 1));
  // the activation's input is W_gate*u
  const TensorPoint z_point = context.lookup.point(mlp.inner);
  const S z = context.lookup.input(mlp.activation) - presence_at(mlp.inner, z_point) * two_to_the(mlp.gate_bits - 1);
  const PointClaimOf<S> in = verify_looked_up<S>(context, mlp.activation.clamp, mlp.gate_remainder, z);
  const auto gate =
      verify_matrix_product(context, {{mlp.gate}, block_bits, outer[1].bits()}, in.point, std::span(&in.value, 1));
  return {{weight_at(up.point), up.value}, {weight_at(gate.point), gate.value}};
}

#define INSTANTIATE(S) template std::vector<WeightedClaimOf<S>> run(VerifierContext<S>&, const GatedMlpPlan&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
