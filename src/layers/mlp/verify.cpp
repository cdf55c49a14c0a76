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

WeightedClaim verify_mlp(VerifierContext& context) {
  const auto scope = context.transcript.scope("mlp");
  const Plan& plan = context.plan;
  const auto& inner = plan.shapes.block_inner.dimensions();
  const auto& outer = plan.shapes.block_feature.dimensions();
  const unsigned block_bits = outer[0].bits();
  // 1
  const TensorPoint at = context.lookup.point(plan.shapes.block_feature);
  const std::size_t last = plan.model.n_layer - 1;
  const E next = context.committed("x_next", plan.x_in,
                                   {next_block(at[0], plan.model.n_layer), Factor::at(at[1]), Factor::at(at[2])});
  const E end = context.committed("x_end", plan.x_end, weight_at({at[1], at[2]}));
  const E update = next + eq_index(at[0], last) * end - context.lookup.value(plan.x_mid_range);
  const E scaled = requantized(plan.shapes.block_feature, at, update, context.lookup.value(plan.mlp_out_remainder),
                               plan.mlp_out_remainder.width);
  // 2, 3
  const E bias2 = context.parameter("bias_2", b2, weight_at({at[0], at[1]}));
  const E out = scaled - bias2 * two_to_the(static_cast<unsigned>(plan.exponents.bias_2()));
  const PointClaim gelu = verify_matrix_product(context, {{w2}, block_bits, inner[1].bits()}, at, std::span(&out, 1));
  context.ledger.witness.push_back({plan.gelu.output, weight_at(gelu.point), gelu.value});
  // 4, 5
  const TensorPoint z_point = context.lookup.point(plan.shapes.block_inner);
  const E z = context.lookup.input(plan.gelu) -
              presence_at(plan.shapes.block_inner, z_point) * two_to_the(gelu_table_log_size - 1);
  const E z_scaled = requantized(plan.shapes.block_inner, z_point, z, context.lookup.value(plan.mlp_remainder),
                                 plan.mlp_remainder.width);
  const E bias1 = context.parameter("bias_1", b1, weight_at({z_point[0], z_point[1]}));
  const E in = z_scaled - bias1 * two_to_the(static_cast<unsigned>(plan.exponents.bias_1()));
  const PointClaim u = verify_matrix_product(context, {{w1}, block_bits, outer[1].bits()}, z_point, std::span(&in, 1));
  return {weight_at(u.point), u.value};
}

WeightedClaim verify_output_projection(VerifierContext& context) {
  const auto scope = context.transcript.scope("projection");
  const Plan& plan = context.plan;
  const Shape& shape = plan.shapes.block_feature;
  const TensorPoint at = context.lookup.point(shape);
  const E update = context.lookup.value(plan.x_mid_range) - context.lookup.value(plan.x_in_range);
  const E scaled = requantized(shape, at, update, context.lookup.value(plan.o_remainder), plan.o_remainder.width);
  const E bias = context.parameter("bias", bo, weight_at({at[0], at[1]}));
  const E out = scaled - bias * two_to_the(static_cast<unsigned>(plan.exponents.bias_o()));
  const auto& dimensions = shape.dimensions();
  const PointClaim y =
      verify_matrix_product(context, {{wo}, dimensions[0].bits(), dimensions[1].bits()}, at, std::span(&out, 1));
  return {{Factor::at(y.point[0]), feature_to_padded(plan.model, plan.head_feature.dimensions()[1].bits(), y.point[1]),
           Factor::at(y.point[2])},
          y.value};
}

}  // namespace tessera
