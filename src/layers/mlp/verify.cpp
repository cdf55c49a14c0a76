#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "layers/mlp/mlp.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

Factor next_block(const Point& block, std::size_t blocks) {
  Factor weight = Factor::of(std::vector<E>(std::size_t{1} << block.size()));
  for (std::size_t b = 0; b + 1 < blocks; ++b) {
    weight.head[b + 1] = eq_index(block, b);
  }
  return weight;
}

template <class S>
WeightedClaimOf<S> run(VerifierContext<S>& context, const MlpPlan& mlp) {
  const auto scope = context.transcript.scope("mlp");
  const auto& inner = mlp.inner.dimensions();
  const auto& outer = mlp.feature.dimensions();
  const unsigned block_bits = outer[0].bits();
  // the update of the residual stream, from this block's and the next one's
  const TensorPoint at = context.lookup.point(mlp.feature);
  const std::size_t last = mlp.feature.dimensions()[0].length - 1;
  const S next =
      context.committed("x_next", mlp.x_in.tensor,
                        {next_block(at[0], mlp.feature.dimensions()[0].length), Factor::at(at[1]), Factor::at(at[2])});
  const S end = context.committed("x_end", mlp.x_end.tensor, weight_at({at[1], at[2]}));
  const S update = next + eq_index(at[0], last) * end - context.lookup.value(mlp.x_mid.checked);
  const S scaled =
      requantized(mlp.feature, at, update, context.lookup.value(mlp.out_remainder), static_cast<unsigned>(mlp.shift_2));
  context.transcript.identity(mlp.feature.bits(), "identity at the look-up point");
  // it is W2*g + b2
  const S bias2 = context.parameter("bias_2", mlp.b2, weight_at({at[0], at[1]}));
  const S out = scaled - bias2 * two_to_the(static_cast<unsigned>(mlp.bias_shift_2));
  const auto gelu = verify_matrix_product(context, {{mlp.w2}, block_bits, inner[1].bits()}, at, std::span(&out, 1));
  context.ledger.add(witness_oracle, mlp.gelu.output, weight_at(gelu.point), gelu.value);
  // GELU's input is W1*u + b1
  const TensorPoint z_point = context.lookup.point(mlp.inner);
  const S z = context.lookup.input(mlp.gelu) - presence_at(mlp.inner, z_point) * two_to_the(gelu_table_log_size - 1);
  const S z_scaled =
      requantized(mlp.inner, z_point, z, context.lookup.value(mlp.remainder), static_cast<unsigned>(mlp.shift_1));
  context.transcript.identity(mlp.inner.bits(), "identity at the look-up point");
  const S bias1 = context.parameter("bias_1", mlp.b1, weight_at({z_point[0], z_point[1]}));
  const S in = z_scaled - bias1 * two_to_the(static_cast<unsigned>(mlp.bias_shift_1));
  const auto u = verify_matrix_product(context, {{mlp.w1}, block_bits, outer[1].bits()}, z_point, std::span(&in, 1));
  return {weight_at(u.point), u.value};
}

template WeightedClaim run(VerifierContext<E>&, const MlpPlan&);
template WeightedClaimOf<Nothing> run(VerifierContext<Nothing>&, const MlpPlan&);

}  // namespace tessera
