#include "layers/logits/dense.hpp"

namespace tessera {

DensePlan DensePlan::declare(Builder& builder, const SampledSpec& spec, const Shape& logits) {
  constexpr unsigned sum_bits = 42;  // of up to 2^19 weights up to 2^22
  const Ownership by_token{0};
  DensePlan plan;
  static_cast<SampledSpec&>(plan) = spec;
  plan.rows = Shape({Dimension::whole(logits.dimensions()[1].length).named("G")});
  plan.maximum = builder.committed_derived("score_max", plan.rows, {}, {spec.widths.score_bits, "w_l"}, true);
  plan.remainder = builder.layer_remainder("score_remainder", logits, spec.widths.shift);
  plan.weight = builder.derived_pair("score_weight", logits, by_token, spec.table);
  plan.excess = builder.derived_excess("score_excess", logits, by_token, {spec.widths.score_bits - 1, "w_l - 1"});
  plan.best_values = builder.derive("best", logits, by_token);
  plan.best = builder.commit(plan.best_values);
  plan.sums = builder.derive("weight_sum", plan.rows, {});
  plan.sum = builder.commit(plan.sums);
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    const std::string number = std::to_string(i);
    plan.quotient[i] = builder.derived_value("limb_quotient_" + number, plan.rows, {}, sum_bits);
    plan.limb_remainder[i] = builder.derived_remainder("limb_remainder_" + number, plan.rows, {}, 16);
  }
  plan.low = builder.derived_value("low", plan.rows, {}, sum_bits);
  plan.high = builder.derived_value("high", plan.rows, {}, sum_bits);
  return plan;
}

std::vector<std::int64_t> weights_within(std::uint32_t cutoff) {
  std::vector<std::int64_t> weights = weight_table();
  std::fill(weights.begin() + cutoff + 1, weights.end(), 0);
  return weights;
}

}  // namespace tessera
