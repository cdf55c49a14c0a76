#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "layers/mlp/mlp.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S>
std::vector<WeightedClaimOf<S>> run(VerifierContext<S>& context, const MlpPlan& mlp) {
  const auto scope = context.transcript.scope("mlp");
  const auto& inner = mlp.inner.dimensions();
  const auto& outer = mlp.feature.dimensions();
  const unsigned block_bits = outer[0].bits();
  // the update of the residual stream, from this block's and the next one's
  const TensorPoint at = context.lookup.point(mlp.feature);
  const S update = requantized_at_lookup(context, mlp.out_remainder, verify_block_update(context, mlp));
  // it is W2*g + b2
  const S out = mlp.b2 ? update - verify_bias(context, "bias_2", *mlp.b2, mlp.bias_shift_2, mlp.feature, at) : update;
  const auto gelu = verify_matrix_product(context, {{mlp.w2}, block_bits, inner[1].bits()}, at, std::span(&out, 1));
  context.ledger.add(witness_oracle, mlp.gelu.output, weight_at(gelu.point), gelu.value);
  // GELU's input is W1*u + b1
  const TensorPoint z_point = context.lookup.point(mlp.inner);
  const S z = context.lookup.input(mlp.gelu) - presence_at(mlp.inner, z_point) * two_to_the(gelu_table_log_size - 1);
  const PointClaimOf<S> sum = verify_looked_up<S>(context, mlp.gelu.clamp, mlp.remainder, z);
  const S in =
      mlp.b1 ? sum.value - verify_bias(context, "bias_1", *mlp.b1, mlp.bias_shift_1, mlp.inner, sum.point) : sum.value;
  const auto u = verify_matrix_product(context, {{mlp.w1}, block_bits, outer[1].bits()}, sum.point, std::span(&in, 1));
  return {{weight_at(u.point), u.value}};
}

#define INSTANTIATE(S) template std::vector<WeightedClaimOf<S>> run(VerifierContext<S>&, const MlpPlan&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
