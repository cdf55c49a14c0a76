#include "subprotocols/head_padding.hpp"
#include "subprotocols/matrix_product.hpp"
#include "layers/mlp/mlp.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

WeightedClaim prove_mlp(ProverContext& context) {
  const auto scope = context.transcript.scope("mlp");
  const Plan& plan = context.plan;
  const Shape& shape = plan.shapes.block_feature;
  const Shape& inner = plan.shapes.block_inner;
  const unsigned block_bits = shape.dimensions()[0].bits();
  const TensorPoint at = context.lookup.point(shape);
  context.committed("x_next", plan.x_in, {next_block(at[0], plan.model.n_layer), Factor::at(at[1]), Factor::at(at[2])});
  context.committed("x_end", plan.x_end, weight_at({at[1], at[2]}));
  context.parameter("bias_2", b2, weight_at({at[0], at[1]}));
  const IntegerTensor& gelu = context.witness.tensors[plan.gelu.output];
  const PointClaim input = prove_matrix_product(context, {{w2}, block_bits, inner.dimensions()[1].bits()}, at,
                                                contract(gelu, inner, {Axis{}, Axis{}, eq_table(at[2])}, context.comm));
  context.ledger.witness.push_back({plan.gelu.output, weight_at(input.point), input.value});
  const TensorPoint z_point = context.lookup.point(inner);
  context.parameter("bias_1", b1, weight_at({z_point[0], z_point[1]}));
  const PointClaim u =
      prove_matrix_product(context, {{w1}, block_bits, shape.dimensions()[1].bits()}, z_point,
                           contract(context.witness.u2, shape, {Axis{}, Axis{}, eq_table(z_point[2])}, context.comm));
  return {weight_at(u.point), u.value};
}

WeightedClaim prove_output_projection(ProverContext& context) {
  const auto scope = context.transcript.scope("projection");
  const Plan& plan = context.plan;
  const Shape& shape = plan.shapes.block_feature;
  const TensorPoint at = context.lookup.point(shape);
  context.parameter("bias", bo, weight_at({at[0], at[1]}));
  const unsigned feature_bits = shape.dimensions()[1].bits();
  const unsigned padded_bits = plan.head_feature.dimensions()[1].bits();
  const std::vector<E> padded =
      contract(context.witness.y, plan.head_feature, {Axis{}, Axis{}, eq_table(at[2])}, context.comm);
  std::vector<E> y = padded;
  if (!plan.whole_heads) {
    const std::size_t blocks = padded.size() >> padded_bits;
    y.assign(blocks << feature_bits, E::zero());
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::size_t x = 0; x < plan.model.n_embd; ++x) {
        y[(b << feature_bits) + x] = padded[(b << padded_bits) + padded_place(plan.model, x)];
      }
    }
  }
  const PointClaim claim =
      prove_matrix_product(context, {{wo}, shape.dimensions()[0].bits(), feature_bits}, at, std::move(y));
  return {{Factor::at(claim.point[0]), feature_to_padded(plan.model, padded_bits, claim.point[1]),
           Factor::at(claim.point[2])},
          claim.value};
}

}  // namespace tessera
