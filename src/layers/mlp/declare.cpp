#include "layers/mlp/mlp.hpp"

namespace tessera {

MlpPlan MlpPlan::declare(Builder& builder, MlpSpec spec) {
  MlpPlan mlp;
  static_cast<MlpSpec&>(mlp) = std::move(spec);
  mlp.gelu = builder.pair<std::int16_t>("gelu", mlp.inner, {1}, mlp.table);
  mlp.z = builder.record<std::int16_t>("mlp", mlp.inner, {1});
  builder.clamp(mlp.gelu, "mlp", gelu_table_log_size, mlp.shift_1);
  mlp.remainder = builder.remainder<std::uint16_t>("mlp_remainder", mlp.inner, {1}, mlp.shift_1);
  mlp.out_remainder = builder.update_remainder<std::uint16_t>("mlp_out_remainder", mlp.feature, {1}, mlp.shift_2);
  return mlp;
}

}  // namespace tessera
