#include "layers/gated_mlp/gated_mlp.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {
namespace {

/// Steps 3 to 6: from t at the look-up point and at m, or at one point where values of t may be clamped, to U at one
/// point.
template <class S>
PointClaimOf<S> verify_gating(VerifierContext<S>& context, const GatedMlpPlan& mlp, const PointClaimOf<S>& t) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("gating");
  std::vector<PointClaimOf<S>> products;  // of a*U
  std::vector<E> scales{E::one()};
  if (context.exceptions.checked(mlp.product.clamp)) {
    products.push_back(
        verify_requantized_claims<S>(context, mlp.product, mlp.product_remainder, {{weight_at(t.point), t.value}}));
  } else {
    const S here = verify_requantization(context, mlp.product_remainder, t.point, t.value);
    products.push_back({context.lookup.point(mlp.inner),
                        requantized_at_lookup(context, mlp.product_remainder, context.lookup.value(mlp.product))});
    products.push_back({t.point, here});
    scales.push_back(transcript.challenge("gamma", 1, "combination of claims"));
  }
  S claim{};
  for (std::size_t k = 0; k < products.size(); ++k) {
    claim = claim + scales[k] * products[k].value;
  }
  const auto sumcheck = verify_sumcheck(transcript, claim, mlp.inner.bits(), TripleProductRelation{}.degree());
  E weight = E::zero();
  for (std::size_t k = 0; k < products.size(); ++k) {
    weight += scales[k] * eq(to_flat_point(mlp.inner, products[k].point), sumcheck.point);
  }
  const TensorPoint end = to_tensor_point(mlp.inner, sumcheck.point);
  const S activation = context.committed("activation", mlp.activation.output, weight_at(end));
  const S up = transcript.receive("up");
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
  const PointClaimOf<S> out = verify_branch_end<S>(
      context, mlp.out_remainder, mlp.normed, context.lookup.point(mlp.feature), verify_block_update(context, mlp));
  const auto t =
      verify_matrix_product(context, {{mlp.down}, block_bits, inner[1].bits()}, out.point, std::span(&out.value, 1));
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
