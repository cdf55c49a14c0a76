#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"
#include "layers/mlp/mlp.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

std::vector<WeightedClaim> run(ProverContext& context, const MlpPlan& mlp) {
  const auto scope = context.transcript.scope("mlp");
  const Shape& shape = mlp.feature;
  const Shape& inner = mlp.inner;
  const unsigned block_bits = shape.dimensions()[0].bits();
  const TensorPoint at = context.lookup.point(shape);
  // the update of the residual stream, from this block's and the next one's
  prove_block_update(context, mlp);
  // it is W2*g + b2
  if (mlp.b2) {
    context.parameter("bias_2", *mlp.b2, weight_at({at[0], at[1]}));
  }
  const IntegerTensor& gelu = context.witness.tensors[mlp.gelu.output];
  const PointClaim input = prove_matrix_product(context, {{mlp.w2}, block_bits, inner.dimensions()[1].bits()}, at,
                                                contract(gelu, inner, {Axis{}, Axis{}, eq_table(at[2])}, context.comm));
  context.ledger.add(witness_oracle, mlp.gelu.output, weight_at(input.point), input.value);
  // GELU's input is W1*u + b1
  const TensorPoint z_point = prove_looked_up(context, mlp.gelu.clamp, context.witness.view(mlp.z), mlp.remainder);
  if (mlp.b1) {
    context.parameter("bias_1", *mlp.b1, weight_at({z_point[0], z_point[1]}));
  }
  const PointClaim u = prove_matrix_product(
      context, {{mlp.w1}, block_bits, shape.dimensions()[1].bits()}, z_point,
      contract(context.witness.recorded[mlp.u], shape, {Axis{}, Axis{}, eq_table(z_point[2])}, context.comm));
  return {{weight_at(u.point), u.value}};
}

}  // namespace tessera
