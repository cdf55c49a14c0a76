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
  const S bias2 = context.parameter("bias_2", mlp.b2, weight_at({at[0], at[1]}));
  const S out = update - presence_along(outer[2], at[2]) * bias2 * two_to_the(static_cast<unsigned>(mlp.bias_shift_2));
  const auto gelu = verify_matrix_product(context, {{mlp.w2}, block_bits, inner[1].bits()}, at, std::span(&out, 1));
  context.ledger.add(witness_oracle, mlp.gelu.output, weight_at(gelu.point), gelu.value);
  // GELU's input is W1*u + b1
  const TensorPoint z_point = context.lookup.point(mlp.inner);
  const S z = context.lookup.input(mlp.gelu) - presence_at(mlp.inner, z_point) * two_to_the(gelu_table_log_size - 1);
  const PointClaimOf<S> sum = verify_looked_up<S>(context, mlp.gelu.clamp, mlp.remainder, z);
  const S bias1 = context.parameter("bias_1", mlp.b1, weight_at({sum.point[0], sum.point[1]}));
  const S in =
      sum.value - presence_along(inner[2], sum.point[2]) * bias1 * two_to_the(static_cast<unsigned>(mlp.bias_shift_1));
  const auto u = verify_matrix_product(context, {{mlp.w1}, block_bits, outer[1].bits()}, sum.point, std::span(&in, 1));
  return {{weight_at(u.point), u.value}};
}

#define INSTANTIATE(S) template std::vector<WeightedClaimOf<S>> run(VerifierContext<S>&, const MlpPlan&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
