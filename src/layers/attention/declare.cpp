#include "layers/attention/attention.hpp"

namespace tessera {

Shape AttentionPlan::masks() const {
  std::vector<Dimension> dimensions(scores.dimensions().end() - 2, scores.dimensions().end());
  if (!scores.windows().empty()) {
    dimensions.insert(dimensions.begin(), scores.dimensions().front());
  }
  return Shape(std::move(dimensions), Presence::causal, {scores.windows().begin(), scores.windows().end()});
}

AttentionPlan AttentionPlan::declare(Builder& builder, AttentionSpec spec) {
  AttentionPlan plan;
  static_cast<AttentionSpec&>(plan) = std::move(spec);
  const Dimension& block = plan.rows.dimensions().front();
  plan.queries = plan.heads.queries(block, plan.rows.dimensions().back());
  plan.keys = plan.heads.keys(block, plan.scores.dimensions().back());
  const Ownership by_head{1, Deal::all};
  const Ownership by_tile{1, Deal::tiles};
  // every score that there can be: m products below 2^30, rounded by S
  const unsigned places = ceil_log2(plan.heads.size);
  const Width score_bits{places + 32 - static_cast<unsigned>(plan.score_shift), "⌈log2 m⌉ + 32 − S"};
  const Width max_bits = plan.cap_table ? Width{capped_score_bits} : score_bits;
  const Width sum_bits{16 + plan.kappa + plan.key_bits, "16 + κ + log2 ŝ"};
  plan.exponential = builder.pair<std::int32_t>("exponential", plan.scores, by_tile, plan.table);
  builder.clamp(plan.exponential, "far", exp_table_log_size, plan.score_shift, ClampedTensor::Kind::distances);
  if (plan.cap_table) {
    plan.capped = builder.pair<std::int32_t>("capped_score", plan.scores, by_tile, *plan.cap_table);
    builder.clamp(*plan.capped, "score", cap_table_log_size, plan.score_shift, ClampedTensor::Kind::scores);
  }
  plan.score = builder.record<std::int32_t>("score", plan.scores, by_tile);
  plan.score_remainder = builder.remainder<std::uint16_t>("score_remainder", plan.scores, by_tile, plan.score_shift);
  plan.row_max = builder.committed_value<std::int64_t>("row_max", plan.rows, by_head, max_bits, true);
  plan.row_inverse = builder.committed_value<std::int32_t>("row_inverse", plan.rows, by_head,
                                                           {softmax_shift - plan.kappa - 15, "31 − κ"});
  plan.division_remainder = builder.derived_value("division_remainder", plan.rows, by_head, sum_bits);
  plan.division_complement = builder.derived_value("division_complement", plan.rows, by_head, sum_bits);
  plan.row_sum_quotient =
      builder.committed_derived("row_sum_quotient", plan.rows, by_head, {16 + plan.key_bits, "16 + log2 ŝ"});
  plan.maximum_count = builder.derived_value("maximum_count", plan.rows, by_head, {plan.kappa - 1, "κ − 1"});
  plan.y = builder.value<std::int16_t>("y", plan.head_feature, by_head, 16, true);
  plan.y_remainder =
      builder.remainder<std::int64_t>("y_remainder", plan.head_feature, by_head, static_cast<int>(softmax_shift));
  plan.row_sum = builder.record<std::int64_t>("row_sum", plan.rows, by_head);
  plan.value_sum = builder.record<std::int64_t>("value_sum", plan.head_feature, by_head);
  return plan;
}

}  // namespace tessera
