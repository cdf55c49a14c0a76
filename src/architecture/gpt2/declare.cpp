#include "architecture/gpt2/gpt2.hpp"

namespace tessera::gpt2 {

LayerNormPlan declare_norm(Builder& builder, const ModelPlan& plan, const NormPlace& place) {
  const Exponents& e = plan.exponents;
  const std::int32_t gain = e.*parameter_row(plan.model, place.gamma).exponent;
  LayerNormSpec norm;
  static_cast<NormSpec&>(norm) = norm_spec(plan, place);
  norm.beta = place.beta;
  norm.bias_shift = e.bias_norm(gain, e.*parameter_row(plan.model, place.beta).exponent);
  norm.residual_bits = plan.constants.residual_bits;
  return LayerNormPlan::declare(builder, std::move(norm));
}

QkvPlan declare_qkv(Builder& builder, const ModelPlan& plan) {
  const Exponents& e = plan.exponents;
  QkvSpec spec;
  spec.feature = plan.shapes.block_feature;
  spec.qkv = plan.shapes.qkv[0];
  spec.heads = plan.heads();
  spec.weight = {wq, wk, wv};
  spec.bias = {bq, bk, bv};
  spec.shift = {e.shift_q(), e.shift_k(), e.shift_v()};
  spec.bias_shift = {e.bias_q(), e.bias_k(), e.bias_v()};
  spec.u = output_of(plan.norm_1).u;
  return QkvPlan::declare(builder, std::move(spec));
}

MlpPlan declare_mlp(Builder& builder, const ModelPlan& plan, std::size_t table) {
  const Exponents& e = plan.exponents;
  MlpSpec spec;
  static_cast<ResidualEnd&>(spec) = residual_end(plan);
  spec.inner = plan.shapes.block_inner;
  spec.w1 = w1;
  spec.b1 = b1;
  spec.w2 = w2;
  spec.b2 = b2;
  spec.shift_1 = e.shift_1();
  spec.shift_2 = e.shift_2();
  spec.bias_shift_1 = e.bias_1();
  spec.bias_shift_2 = e.bias_2();
  spec.table = table;
  spec.u = output_of(plan.norm_2).u;
  return MlpPlan::declare(builder, std::move(spec));
}

}  // namespace tessera::gpt2
