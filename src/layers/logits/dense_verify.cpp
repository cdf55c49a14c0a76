#include "layers/logits/logits.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {
namespace {

/// Receives a range-checked tensor's value at a point, by its pieces, all committed.
template <class S>
S receive_pieces(VerifierContext<S>& context, RangeId id, const TensorPoint& at) {
  const RangeCheck& range = context.plan.ranges[id.range];
  S sum{};
  for (std::size_t i = 0; i < range.committed.size(); ++i) {
    sum += context.committed(range.name, range.committed[i], weight_at(at)) * two_to_the(static_cast<unsigned>(16 * i));
  }
  return sum - presence_at(range.shape, at) * F::from_signed(range.offset);
}

/// The logits of all rows at the look-up point, from the maxima and the distances to them.
template <class S>
S logits_from_scores(VerifierContext<S>& context, const LogitsPlan& logits) {
  const DensePlan& plan = *logits.dense;
  const TensorPoint at = context.lookup.point(logits.logits);
  const auto& dimensions = logits.logits.dimensions();
  const S maximum = context.committed("score_max", plan.maximum.tensor, weight_at({at[1]}));
  const E tokens = less_than(at[0], logits.n_vocab);
  const E padding = (presence_along(dimensions[0], at[0]) - tokens) * presence_along(dimensions[1], at[1]);
  const S score = maximum * tokens + padding * F::from_signed(far_distance) - context.lookup.input(plan.weight) -
                  context.lookup.value(plan.excess);
  return requantized_at_lookup(context, plan.remainder, score) *
         F::from_canonical(plan.sampling.inverse_temperature).inverse();
}

/// That weights are those of the true distances, and that some token of each row has the maximum.
template <class S>
void check_attained(VerifierContext<S>& context, const LogitsPlan& logits) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("attained");
  const DensePlan& plan = *logits.dense;
  const Shape& shape = logits.logits;
  const AttainedRelation relation{transcript.challenge("gamma", 1, "combination of two identities")};
  const auto sumcheck =
      verify_eq_sumcheck(transcript, S{}, to_flat_point(shape, context.lookup.point(shape)), relation.degree());
  const TensorPoint end = to_tensor_point(shape, sumcheck.point);
  const S weight = context.committed("score_weight", plan.weight.output, weight_at(end));
  const S excess = receive_pieces(context, plan.excess, end);
  const S best = context.committed("best", plan.best, weight_at(end));
  transcript.check_equal(transcript.value(relation, std::array<S, 3>{weight, excess, best}), sumcheck.value,
                         "a token far from the maximum has a weight, or no token has the maximum");
  // the marks of a row add up to one: nothing is sent
  const Point g = context.lookup.point(plan.rows)[0];
  transcript.identity(plan.rows.bits(), "identity at the look-up point");
  context.ledger.add(witness_oracle, plan.best, {Factor::ones(shape.dimensions()[0].bits()), Factor::at(g)},
                     S{less_than(g, context.plan.generated)});
}

/// That u hits the generated tokens.
template <class S>
void check_dense_hits(VerifierContext<S>& context, const LogitsPlan& logits) {
  VerifierView<S>& transcript = context.transcript;
  const DensePlan& plan = *logits.dense;
  const auto& lookup = context.lookup;
  const Point g = lookup.point(plan.rows)[0];
  const DenseWeights weights(plan, context.statement.generated, plan.past + context.plan.prompt_length, g);
  const auto identity = [&] { transcript.identity(plan.rows.bits(), "identity at the look-up point"); };
  const S sum = context.committed("weight_sum", plan.sum, weight_at({g}));
  S hit{};  // q_(i-1), in the end q_2
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    const S product = context.committed("weight_sum", plan.sum, {Factor::of(weights.limb(i))});
    const S quotient = lookup.value(plan.quotient[i]);
    identity();
    transcript.check_equal(product + hit, quotient * two_to_the(16) + lookup.value(plan.limb_remainder[i]),
                           "a limb of the random number times the weights is another");
    hit = quotient;
  }
  const E rows = less_than(g, context.plan.generated);
  ReductionInputOf<S> input{Integers::committed(plan.weight.output), {}};
  input.claims.push_back({{Factor::ones(logits.logits.dimensions()[0].bits()), Factor::at(g)}, sum});
  input.claims.push_back({{}, hit - lookup.value(plan.low), nullptr, &weights.before()});
  input.claims.push_back({{}, hit + lookup.value(plan.high) + rows, nullptr, &weights.with_token()});
  for (std::size_t i = 0; i < input.claims.size(); ++i) {
    identity();
  }
  const PointClaimOf<S> reduced = reduce_claim(context, logits.logits, input);
  context.ledger.add(witness_oracle, plan.weight.output, weight_at(reduced.point), reduced.value);
}

}  // namespace

template <class S>
std::vector<WeightedClaimOf<S>> run_dense(VerifierContext<S>& context, const LogitsPlan& logits) {
  const auto scope = context.transcript.scope("logits");
  std::vector<WeightedClaimOf<S>> claims;
  claims.push_back(run_all_logits(context, logits, logits_from_scores(context, logits)));
  const auto sampling_scope = context.transcript.scope("sampling");
  check_attained(context, logits);
  check_dense_hits(context, logits);
  return claims;
}

#define INSTANTIATE(S) template std::vector<WeightedClaimOf<S>> run_dense(VerifierContext<S>&, const LogitsPlan&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
