#include "plan/context.hpp"

namespace tessera {

std::vector<const RangeCheck*> all_ranges(const Plan& plan) {
  std::vector<const RangeCheck*> ranges{&plan.x_in_range, &plan.x_mid_range, &plan.x_end_range};
  for (const LayerNormPlan* norm : {&plan.ln1, &plan.ln2, &plan.lnf}) {
    for (const RangeCheck* range :
         {&norm->mu_range, &norm->mean_remainder, &norm->mean_complement, &norm->sigma_range, &norm->root_remainder,
          &norm->root_complement, &norm->inverse_range, &norm->inverse_remainder, &norm->inverse_complement, &norm->u,
          &norm->u_remainder}) {
      ranges.push_back(range);
    }
  }
  for (const RangeCheck* range :
       {&plan.q, &plan.k, &plan.v, &plan.q_remainder, &plan.k_remainder, &plan.v_remainder, &plan.score_remainder,
        &plan.row_max_range, &plan.row_inverse_range, &plan.division_remainder, &plan.division_complement,
        &plan.quotient_range, &plan.count_range, &plan.y, &plan.y_remainder, &plan.o_remainder, &plan.mlp_remainder,
        &plan.mlp_out_remainder, &plan.logit_difference}) {
    ranges.push_back(range);
  }
  return ranges;
}

E LookupValues::value(const RangeCheck& range) const {
  E value;
  for (std::size_t i = range.pieces(); i-- > 0;) {
    value = value * two_to_the(16) + claims_.a[range.columns[i]];
  }
  return value - presence_at(range.shape, point(range.shape)) * F::from_signed(range.offset);
}

void LookupValues::add_pieces(ClaimLedger& ledger, const RangeCheck& range) const {
  for (std::size_t i = 0; i < range.committed.size(); ++i) {
    ledger.witness.push_back({range.committed[i], weight_at(point(range.shape)), claims_.a[range.columns[i]]});
  }
}

void LookupValues::add_claims(ClaimLedger& ledger) const {
  for (const RangeCheck* range : all_ranges(plan_)) {
    add_pieces(ledger, *range);
  }
  const auto committed_value = [&](TensorId tensor, const RangeCheck& range) {
    ledger.witness.push_back({tensor, weight_at(point(range.shape)), value(range)});
  };
  committed_value(plan_.x_in, plan_.x_in_range);
  committed_value(plan_.x_mid, plan_.x_mid_range);
  committed_value(plan_.x_end, plan_.x_end_range);
  for (const LayerNormPlan* norm : {&plan_.ln1, &plan_.ln2, &plan_.lnf}) {
    committed_value(norm->mu, norm->mu_range);
    committed_value(norm->sigma, norm->sigma_range);
    committed_value(norm->inverse, norm->inverse_range);
  }
  committed_value(plan_.row_max, plan_.row_max_range);
  committed_value(plan_.row_inverse, plan_.row_inverse_range);
  committed_value(plan_.row_sum_quotient, plan_.quotient_range);
  for (const PairLookup* pair : {&plan_.exponential, &plan_.gelu}) {
    ledger.witness.push_back({pair->output, weight_at(point(pair->shape)), output(*pair)});
  }
  for (std::size_t table = 0; table < plan_.multiplicities.size(); ++table) {
    const TensorId tensor = plan_.multiplicities[table];
    ledger.witness.push_back({tensor, weight_at(point(plan_.witness_shapes[tensor])), claims_.multiplicity[table]});
  }
}

E VerifierContext::parameter(std::string_view label, ParameterId tensor, std::vector<Factor> weight) {
  const E value = transcript.receive(label);
  ledger.parameters.push_back({tensor, std::move(weight), value});
  return value;
}

E VerifierContext::committed(std::string_view label, TensorId tensor, std::vector<Factor> weight) {
  const E value = transcript.receive(label);
  ledger.witness.push_back({tensor, std::move(weight), value});
  return value;
}

Point join(std::span<const E> high, std::span<const E> low) {
  Point point(high.begin(), high.end());
  point.insert(point.end(), low.begin(), low.end());
  return point;
}

}  // namespace tessera
