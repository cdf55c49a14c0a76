#include "plan/sides.hpp"
#include "layers/mlp/mlp.hpp"
#include "subprotocols/matrix_product.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class Side>
std::vector<WeightedClaimFor<Side>> run(Side& context, const MlpPlan& mlp) {
  const auto scope = context.transcript.scope("mlp");
  // the update of the residual stream, from this block's and the next one's, is W2*g + b2
  auto out = branch_end(context, mlp.out_remainder, {}, context.lookup.point(mlp.feature), block_update(context, mlp));
  subtract_bias(context, "bias_2", mlp.b2, mlp.bias_shift_2, mlp.feature, out);
  const auto gelu = matrix_product(context, mlp.w2, out, {mlp.gelu, mlp.inner});
  context.ledger.add(witness_oracle, mlp.gelu.output, weight_at(gelu.point), gelu.value);
  // GELU's input is W1*u + b1
  const auto offset = presence_at(mlp.inner, context.lookup.point(mlp.inner)) * two_to_the(gelu_table_log_size - 1);
  auto sum = looked_up(context, mlp.gelu.clamp, mlp.z, mlp.remainder, context.lookup.input(mlp.gelu) - offset);
  subtract_bias(context, "bias_1", mlp.b1, mlp.bias_shift_1, mlp.inner, sum);
  const auto u = matrix_product(context, mlp.w1, sum, {mlp.u, mlp.feature});
  return {{weight_at(u.point), u.value}};
}

#define INSTANTIATE(Side) template std::vector<WeightedClaimFor<Side>> run(Side&, const MlpPlan&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
