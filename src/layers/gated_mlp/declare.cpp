#include "layers/gated_mlp/gated_mlp.hpp"

namespace tessera {

GatedMlpPlan GatedMlpPlan::declare(Builder& builder, GatedMlpSpec spec) {
  GatedMlpPlan mlp;
  static_cast<GatedMlpSpec&>(mlp) = std::move(spec);
  const Ownership by_row{1};
  mlp.activation = builder.pair<std::int32_t>("activation", mlp.inner, by_row, mlp.table);
  mlp.z = builder.record<std::int32_t>("gate", mlp.inner, by_row);
  builder.clamp(mlp.activation, "gate", mlp.gate_bits, mlp.shift_gate);
  mlp.gate_remainder = builder.remainder<std::uint16_t>("gate_remainder", mlp.inner, by_row, mlp.shift_gate);
  mlp.up_sum = builder.record<std::int64_t>("up_sum", mlp.inner, by_row);
  mlp.product = builder.value<std::int32_t>("product", mlp.inner, by_row, {mlp.product_bits, "w_t"}, true);
  builder.clamp(mlp.product, mlp.shift_product);
  mlp.product_remainder = builder.layer_remainder("product_remainder", mlp.inner, mlp.shift_product);
  if (mlp.norm) {
    mlp.normed = BranchNorm::declare(builder, *mlp.norm);
  } else {
    mlp.out_remainder =
        builder.update_remainder<std::uint16_t>("mlp_out_remainder", mlp.feature, by_row, mlp.shift_down);
  }
  return mlp;
}

}  // namespace tessera
