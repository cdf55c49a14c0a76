#include "layers/gated_mlp/gated_mlp.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"
#include "sumcheck/product_relations.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {
namespace {

/// Steps 3 to 6; returns the point of the claim on U.
TensorPoint prove_gating(ProverContext& context, const GatedMlpPlan& mlp, const TensorPoint& at) {
  ProverTranscript& transcript = context.transcript;
  const auto scope = transcript.scope("gating");
  const TensorPoint looked_up = context.lookup.point(mlp.inner);
  std::vector<ScaledWeight> weights;
  if (context.exceptions.checked(mlp.product.clamp)) {
    const TensorPoint reduced =
        prove_requantized_claims(context, mlp.product, mlp.product_remainder, {{weight_at(at), E::zero()}});
    weights = {{weight_at(reduced), E::one()}};
  } else {
    prove_requantization(context, mlp.product_remainder, at);
    weights = {{weight_at(looked_up), E::one()}, {weight_at(at), transcript.challenge("gamma")}};
  }
  const IntegerTensor& activation = context.witness.tensors[mlp.activation.output];
  const std::vector<ChunkedFactor> factors{WeightFactor(mlp.inner, weights), TensorFactor{activation},
                                           TensorFactor{context.witness.view(mlp.up_sum)}};
  const Ownership ownership = std::visit([](const auto* tensor) { return tensor->ownership(); }, activation);
  const ProvenSumcheck sumcheck = prove_chunked_sumcheck(transcript, round_kernel(TripleProductRelation{}), mlp.inner,
                                                         ownership, factors, {}, context.comm);
  const TensorPoint end = to_tensor_point(mlp.inner, sumcheck.point);
  context.committed("activation", mlp.activation.output, weight_at(end), sumcheck.factors[1]);
  transcript.send("up", sumcheck.factors[2]);
  return end;
}

}  // namespace

std::vector<WeightedClaim> run(ProverContext& context, const GatedMlpPlan& mlp) {
  const auto scope = context.transcript.scope("gated_mlp");
  const Shape& shape = mlp.feature;
  const Shape& inner = mlp.inner;
  const unsigned block_bits = shape.dimensions()[0].bits();
  const auto at_token = [&](const IntegerTensor& tensor, const Shape& of, const Point& token) {
    return contract(tensor, of, {Axis{}, Axis{}, eq_table(token)}, context.comm);
  };
  // the update of the residual stream is W_down*t
  prove_block_update(context, mlp);
  const TensorPoint at = prove_branch_end(context, mlp.normed, context.lookup.point(shape));
  const PointClaim t = prove_matrix_product(context, {{mlp.down}, block_bits, inner.dimensions()[1].bits()}, at,
                                            at_token(context.witness.view(mlp.product), inner, at[2]));
  // t is a*U, U is W_up*u
  const TensorPoint sum = prove_gating(context, mlp, t.point);
  const IntegerTensor u = context.witness.recorded[mlp.u];
  const unsigned in_bits = shape.dimensions()[1].bits();
  const PointClaim up = prove_matrix_product(context, {{mlp.up}, block_bits, in_bits}, sum, at_token(u, shape, sum[2]));
  // the activation's input is W_gate*u
  const TensorPoint z_point =
      prove_looked_up(context, mlp.activation.clamp, context.witness.view(mlp.z), mlp.gate_remainder);
  const PointClaim gate =
      prove_matrix_product(context, {{mlp.gate}, block_bits, in_bits}, z_point, at_token(u, shape, z_point[2]));
  return {{weight_at(up.point), up.value}, {weight_at(gate.point), gate.value}};
}

}  // namespace tessera
