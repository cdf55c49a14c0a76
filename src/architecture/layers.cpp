#include "architecture/layers.hpp"

namespace tessera {
namespace {

NormSpec norm_spec(const ModelPlan& plan, const NormOfModel& place) {
  const bool final = place.gamma == gammaf;
  const char* const kind = plan.model.rms() ? "RMS" : "layer";
  NormSpec norm;
  norm.name = std::string(plan.model.rms() ? "rms" : "layer") + "_norm_" + place.number;
  norm.title = (final ? "final " + std::string(kind) + " norm" : kind + (" norm " + std::string(place.number)));
  norm.activation = final ? plan.shapes.feature : plan.shapes.block_feature;
  norm.token = final ? plan.shapes.token : plan.shapes.block_token;
  norm.x = place.x;
  norm.gamma = place.gamma;
  norm.shift = plan.shifts.of(place.gamma);
  if (final && plan.model.rotary()) {
    norm.output_bits = {plan.widths.final_bits, "w_f"};
  }
  norm.features = plan.model.n_embd;
  norm.inverse_bits = plan.constants.inverse_bits;
  norm.epsilon = plan.constants.epsilon;
  norm.norm_numerator = plan.constants.norm_numerator;
  return norm;
}

/// What MLPs say of the residual stream.
ResidualEnd residual_end(const ModelPlan& plan) {
  return {plan.shapes.block_feature, plan.constants.residual_bits, plan.x_in, plan.x_mid, plan.x_end};
}

/// What the MLP's branch reads.
Integers mlp_input(const ModelPlan& plan) {
  return input_of(plan.model.layers.branches == Branches::shared_norm ? plan.norm_1 : plan.norm_2);
}

/// A norm on queries or keys, of a tensor (B, .., R, I, T).
ValueNormSpec head_norm(const ModelPlan& plan, HeadNormOf of, const Shape& value, int shift, std::int64_t epsilon) {
  const bool queries = of == HeadNormOf::queries;
  const std::string name = queries ? "q" : "k";
  ValueNormSpec norm;
  norm.name = name + "_norm";
  norm.title = "norm of " + name;
  norm.value = value;
  norm.normed = plan.model.norm_across_heads ? value.dimensions().size() - 2 : 2;
  std::vector<Dimension> token;
  for (std::size_t j = 0; j < value.dimensions().size(); ++j) {
    if (norm.keeps(j)) {
      token.push_back(value.dimensions()[j]);
    }
  }
  norm.token = Shape(std::move(token));
  norm.gamma = queries ? gamma_q : gamma_k;
  norm.shift = shift;
  norm.features = head_norm_features(plan.model, of);
  norm.inverse_bits = head_inverse_bits(plan.model, of, epsilon);
  norm.epsilon = epsilon;
  norm.norm_numerator = head_norm_numerator(plan.model, of);
  return norm;
}

QkvPlan declare_unrotated(Builder& builder, const ModelPlan& plan) {
  const Shifts& shifts = plan.shifts;
  QkvSpec spec;
  spec.feature = plan.shapes.block_feature;
  spec.qkv = plan.shapes.qkv[0];
  spec.heads = plan.heads();
  spec.weight = {wq, wk, wv};
  spec.bias = {bq, bk, bv};
  spec.shift = {shifts.to(scales::q), shifts.to(scales::k), shifts.to(scales::v)};
  spec.bias_shift = {shifts.of_bias(bq), shifts.of_bias(bk), shifts.of_bias(bv)};
  spec.u = input_of(plan.norm_1);
  return QkvPlan::declare(builder, std::move(spec));
}

GroupedQkvPlan declare_rotated(Builder& builder, const ModelPlan& plan, const VerifyingKey& key) {
  const Shifts& shifts = plan.shifts;
  GroupedQkvSpec spec;
  spec.feature = plan.shapes.block_feature;
  spec.shape = plan.shapes.qkv;
  spec.weight = {wq, wk, wv};
  if (plan.model.qkv_bias) {
    spec.bias = {bq, bk, bv};
    spec.bias_shift = {shifts.of_bias(bq), shifts.of_bias(bk), shifts.of_bias(bv)};
  }
  if (plan.model.head_norm) {
    spec.norm = {head_norm(plan, HeadNormOf::queries, spec.shape[0], shifts.to(scales::hq), key.epsilon_q),
                 head_norm(plan, HeadNormOf::keys, spec.shape[1], shifts.to(scales::hk), key.epsilon_k)};
  }
  spec.shift = {shifts.to(scales::q), shifts.to(scales::k), shifts.to(scales::v)};
  spec.rotary = {std::make_shared<const std::vector<std::int16_t>>(key.rotary_table), plan.model.n_positions,
                 plan.model.head_size() / 2, plan.past, plan.model.rotation_of_block};
  spec.u = input_of(plan.norm_1);
  return GroupedQkvPlan::declare(builder, std::move(spec));
}

MlpPlan declare_plain(Builder& builder, const ModelPlan& plan, std::size_t table) {
  const Shifts& shifts = plan.shifts;
  MlpSpec spec;
  static_cast<ResidualEnd&>(spec) = residual_end(plan);
  spec.inner = plan.shapes.block_inner;
  spec.w1 = w1;
  spec.w2 = w2;
  if (plan.model.layers.bias) {
    spec.b1 = b1;
    spec.b2 = b2;
    spec.bias_shift_1 = shifts.of_bias(b1);
    spec.bias_shift_2 = shifts.of_bias(b2);
  }
  spec.shift_1 = shifts.of(w1);
  spec.shift_2 = shifts.of(w2);
  spec.table = table;
  spec.u = mlp_input(plan);
  return MlpPlan::declare(builder, std::move(spec));
}

GatedMlpPlan declare_gated(Builder& builder, const ModelPlan& plan, const VerifyingKey& key, std::size_t table) {
  const Shifts& shifts = plan.shifts;
  GatedMlpSpec spec;
  static_cast<ResidualEnd&>(spec) = residual_end(plan);
  spec.inner = plan.shapes.block_inner;
  spec.gate = w_gate;
  spec.up = w_up;
  spec.down = w_down;
  spec.shift_gate = shifts.of(w_gate);
  spec.shift_product = shifts.of(w_up);
  spec.shift_down = shifts.of(w_down);
  spec.product_bits = plan.widths.product_bits;
  spec.gate_bits = plan.widths.gate_bits;
  spec.table = table;
  spec.u = mlp_input(plan);
  spec.norm = branch_norm(plan, key, gamma_m);
  return GatedMlpPlan::declare(builder, std::move(spec));
}

}  // namespace

NormLayer declare_norm(Builder& builder, const ModelPlan& plan, const NormOfModel& place) {
  if (place.gamma != gammaf && !plan.model.norm_before()) {
    StreamInputSpec input;
    input.name = "u" + std::string(place.number);
    input.feature = plan.shapes.block_feature;
    input.x = place.x;
    input.shift = plan.shifts.to(place.output);
    input.bits = {plan.widths.stream_bits, "w_s"};
    return StreamInput::declare(builder, std::move(input));
  }
  if (plan.model.rms()) {
    return RmsNormPlan::declare(builder, norm_spec(plan, place));
  }
  LayerNormSpec norm;
  static_cast<NormSpec&>(norm) = norm_spec(plan, place);
  norm.beta = place.beta;
  norm.bias_shift = plan.shifts.of_bias(place.beta);
  norm.residual_bits = plan.constants.residual_bits;
  return LayerNormPlan::declare(builder, std::move(norm));
}

QkvLayer declare_qkv(Builder& builder, const ModelPlan& plan, const VerifyingKey& key) {
  return plan.model.rotary() ? QkvLayer(declare_rotated(builder, plan, key))
                             : QkvLayer(declare_unrotated(builder, plan));
}

MlpLayer declare_mlp(Builder& builder, const ModelPlan& plan, const VerifyingKey& key, std::size_t table) {
  return plan.model.gated() ? MlpLayer(declare_gated(builder, plan, key, table))
                            : MlpLayer(declare_plain(builder, plan, table));
}

std::optional<BranchNormSpec> branch_norm(const ModelPlan& plan, const VerifyingKey& key, ParameterId gamma) {
  if (!plan.model.norm_after()) {
    return std::nullopt;
  }
  const bool attention = gamma == gamma_o;
  BranchNormSpec norm;
  norm.name = attention ? "o_norm" : "mlp_norm";
  norm.title = attention ? "norm behind attention" : "norm behind MLP";
  norm.value = plan.shapes.block_feature;
  norm.token = plan.shapes.block_token;
  norm.normed = 1;
  norm.gamma = gamma;
  norm.shift = plan.shifts.to(attention ? scales::ho : scales::hm);
  norm.bits = {plan.widths.branch_bits, "w_h"};
  norm.features = plan.model.n_embd;
  norm.epsilon = attention ? key.epsilon_o : key.epsilon_m;
  norm.inverse_bits = branch_inverse_bits(plan.model, norm.epsilon);
  norm.norm_numerator = branch_norm_numerator(plan.model);
  norm.out_shift = plan.shifts.of(gamma);
  norm.remainder_name = attention ? "o_remainder" : "mlp_out_remainder";
  return norm;
}

}  // namespace tessera
