#include "architecture/llama/llama.hpp"

namespace tessera::llama {

RmsNormPlan declare_norm(Builder& builder, const ModelPlan& plan, const NormPlace& place) {
  return RmsNormPlan::declare(builder, norm_spec(plan, place));
}

namespace {

/// A norm on queries or keys, of a tensor (.., R, I, T).
HeadNormSpec head_norm(const ModelPlan& plan, const std::string& name, const Shape& head, ParameterId gamma, int shift,
                       std::int64_t epsilon) {
  std::vector<Dimension> token = head.dimensions();
  token.erase(token.end() - 3, token.end() - 1);
  HeadNormSpec norm;
  norm.name = name + "_norm";
  norm.title = "norm of " + name;
  norm.head = head;
  norm.token = Shape(std::move(token));
  norm.gamma = gamma;
  norm.shift = shift;
  norm.features = plan.model.head_size();
  norm.inverse_bits = head_inverse_bits(plan.model, epsilon);
  norm.epsilon = epsilon;
  norm.norm_numerator = head_norm_numerator(plan.model);
  return norm;
}

}  // namespace

GroupedQkvPlan declare_qkv(Builder& builder, const ModelPlan& plan, const VerifyingKey& key) {
  const Exponents& e = plan.exponents;
  const bool normed = plan.model.head_norm;
  GroupedQkvSpec spec;
  spec.feature = plan.shapes.block_feature;
  spec.shape = plan.shapes.qkv;
  spec.weight = {wq, wk, wv};
  if (plan.model.qkv_bias) {
    spec.bias = {bq, bk, bv};
    spec.bias_shift = {e.bias_q(), e.bias_k(), e.bias_v()};
  }
  if (normed) {
    spec.norm = {head_norm(plan, "q", spec.shape[0], gamma_q, e.shift_hq(), key.epsilon_q),
                 head_norm(plan, "k", spec.shape[1], gamma_k, e.shift_hk(), key.epsilon_k)};
  }
  spec.shift = {e.shift_rotated_q(normed), e.shift_rotated_k(normed), e.shift_v()};
  spec.rotary = {std::make_shared<const std::vector<std::int16_t>>(key.rotary_table), plan.model.n_positions,
                 plan.model.head_size() / 2, plan.past};
  spec.u = output_of(plan.norm_1).u;
  return GroupedQkvPlan::declare(builder, std::move(spec));
}

GatedMlpPlan declare_mlp(Builder& builder, const ModelPlan& plan, std::size_t table) {
  const Exponents& e = plan.exponents;
  GatedMlpSpec spec;
  static_cast<ResidualEnd&>(spec) = residual_end(plan);
  spec.inner = plan.shapes.block_inner;
  spec.gate = w_gate;
  spec.up = w_up;
  spec.down = w_down;
  spec.shift_gate = e.shift_gate();
  spec.shift_product = e.shift_product();
  spec.shift_down = e.shift_down();
  spec.product_bits = plan.widths.product_bits;
  spec.gate_bits = plan.widths.gate_bits;
  spec.table = table;
  spec.u = output_of(plan.norm_2).u;
  return GatedMlpPlan::declare(builder, std::move(spec));
}

}  // namespace tessera::llama
