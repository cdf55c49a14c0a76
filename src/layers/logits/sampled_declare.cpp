#include "layers/logits/sampled.hpp"

namespace tessera {

SampledPlan SampledPlan::declare(Builder& builder, const SampledSpec& spec, std::size_t generated) {
  constexpr unsigned sum_bits = 33;  // of up to 2^10 weights up to 2^22
  SampledPlan plan;
  static_cast<SampledSpec&>(plan) = spec;
  plan.row_bits = ceil_log2(generated);
  plan.candidates = Shape({Dimension::whole(std::size_t{1} << (ceil_log2(plan.top_k()) + plan.row_bits)).named("C")});
  plan.rows = Shape({Dimension::whole(generated).named("G")});
  plan.ids = builder.record<std::int32_t>("candidate", plan.candidates, {});
  const Width score_bits{spec.widths.score_bits, "w_l"};
  plan.logit = builder.committed_value<std::int64_t>("candidate_logit", plan.candidates, {},
                                                     {spec.widths.logit_bits, "w_L"}, true);
  plan.score = builder.committed_derived("candidate_score", plan.candidates, {}, score_bits, true);
  plan.remainder = builder.derived_remainder("candidate_remainder", plan.candidates, {}, spec.widths.shift);
  plan.order = builder.derived_value("candidate_order", plan.candidates, {}, 48);
  plan.weight = builder.derived_pair("candidate_weight", plan.candidates, {}, spec.table);
  const auto value = [&](const std::string& name, Width bits) {
    return builder.derived_value(name, plan.rows, {}, bits);
  };
  plan.near = value("near", 17);
  plan.far = value("far", {spec.widths.score_bits + 1, "w_l + 1"});
  plan.top_low = value("top_low", 49);
  plan.top_high = value("top_high", 49);
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    const std::string number = std::to_string(i);
    plan.quotient[i] = value("limb_quotient_" + number, sum_bits);
    plan.limb_remainder[i] = builder.derived_remainder("limb_remainder_" + number, plan.rows, {}, 16);
  }
  plan.low = value("low", sum_bits);
  plan.high = value("high", sum_bits);
  return plan;
}

}  // namespace tessera
