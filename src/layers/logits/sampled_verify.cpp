#include "layers/logits/logits.hpp"
#include "subprotocols/requantization.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {
namespace {

/// What the identities at the points of C and (G) share.
template <class S>
struct SampledChecks {
  VerifierContext<S>& context;
  const SampledPlan& plan;
  const SampledWeights& weights;

  /// Receives <w, T> for a tensor over C.
  S claim(std::string_view label, TensorId tensor, std::vector<E> weight) const {
    weight.resize(plan.candidates.chunk_size());  // an account has none
    return context.committed(label, tensor, {Factor::of(std::move(weight))});
  }
  template <class Make>
  S claim(std::string_view label, TensorId tensor, const Make& make) const {
    return claim(label, tensor, context.transcript.public_value(make));
  }
  void holds(const Shape& shape, const S& left, const S& right, std::string_view why) const {
    context.transcript.identity(shape.bits(), "identity at the look-up point");
    context.transcript.check_equal(left, right, why);
  }
};

/// That candidates are in order, and which count: J', J.
template <class S>
void check_candidates(const SampledChecks<S>& checks) {
  const SampledPlan& plan = checks.plan;
  const SampledWeights& weights = checks.weights;
  VerifierContext<S>& context = checks.context;
  const auto& lookup = context.lookup;
  const auto constants = context.transcript.public_value([&] { return weights.constants(); });
  const S order = checks.claim("candidate_logit", plan.logit.tensor, [&] { return weights.order(); });
  checks.holds(plan.candidates, lookup.value(plan.order), order - constants.descents, "candidates are not in order");
  const auto score = [&](auto make) { return checks.claim("candidate_score", plan.score.tensor, make); };
  const S distance = score([&] { return weights.distance(); });
  checks.holds(plan.candidates, lookup.input(plan.weight), distance + constants.without * F::from_signed(far_distance),
               "distances of candidates are others");
  const S cutoff{constants.rows * F::from_canonical(plan.sampling.cutoff)};
  const S near = score([&] { return weights.near(); });
  checks.holds(plan.rows, lookup.value(plan.near), near + cutoff, "a candidate counts beyond the cut-off");
  const S far = score([&] { return weights.far(); });
  checks.holds(plan.rows, lookup.value(plan.far),
               far - constants.cut_rows * F::from_canonical(std::uint64_t{plan.sampling.cutoff} + 1),
               "a candidate within the cut-off does not count");
  const auto weight = [&](auto make) { return checks.claim("candidate_weight", plan.weight.output, make); };
  const S top_low = weight([&] { return weights.top_low(); });
  checks.holds(plan.rows, lookup.value(plan.top_low), top_low - constants.rows, "more candidates are kept than needed");
  const S top_high = weight([&] { return weights.top_high(); });
  checks.holds(plan.rows, lookup.value(plan.top_high), top_high, "fewer candidates are kept than needed");
}

/// That u hits the generated tokens.
template <class S>
void check_hits(const SampledChecks<S>& checks) {
  const SampledPlan& plan = checks.plan;
  const SampledWeights& weights = checks.weights;
  const auto& lookup = checks.context.lookup;
  const auto weight = [&](auto make) { return checks.claim("candidate_weight", plan.weight.output, make); };
  S hit{};  // q_(i-1), in the end q_2
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    const S product = weight([&] { return weights.limb(i); });
    const S quotient = lookup.value(plan.quotient[i]);
    checks.holds(plan.rows, product + hit, quotient * two_to_the(16) + lookup.value(plan.limb_remainder[i]),
                 "a limb of the random number times the weights is another");
    hit = quotient;
  }
  const E rows = checks.context.transcript.public_value([&] { return weights.constants().rows; });
  const S before = weight([&] { return weights.up_to(false); });
  checks.holds(plan.rows, lookup.value(plan.low), hit - before, "the random number lies before a generated token");
  const S after = weight([&] { return weights.up_to(true); });
  checks.holds(plan.rows, lookup.value(plan.high), after - rows - hit,
               "the random number lies behind a generated token");
}

}  // namespace

template <class S>
std::vector<WeightedClaimOf<S>> run_sampled(VerifierContext<S>& context, const LogitsPlan& logits) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("logits");
  const SampledPlan& plan = *logits.sampled;
  const TensorPoint at = context.lookup.point(logits.logits);
  const Point c = context.lookup.point(plan.candidates)[0];
  const SampledWeights weights(plan, context.candidates, plan.past + context.plan.prompt_length, c,
                               context.lookup.point(plan.rows)[0]);
  const SampledChecks<S> checks{context, plan, weights};
  // logits of all rows, from their distances to the last candidates' and from the candidates'
  auto boundary = transcript.public_value([&] { return weights.boundary(at, logits.n_vocab); });
  const S bound = checks.claim("candidate_logit", plan.logit.tensor, std::move(boundary.weight));
  transcript.identity(at[0].size() + at[1].size(), "identity at the look-up point");
  std::vector<WeightedClaimOf<S>> claims;
  claims.push_back(
      run_all_logits(context, logits, bound - boundary.constant - context.lookup.value(logits.difference)));
  // the candidates' are products of the rows of E
  const S candidate_logit = context.lookup.value(plan.logit.checked);
  checks.holds(plan.candidates, candidate_logit * F::from_canonical(plan.sampling.inverse_temperature),
               requantized_at_lookup(context, plan.remainder, context.lookup.value(plan.score.checked)),
               "a candidate's logit is rounded otherwise");
  {
    const auto chosen_scope = transcript.scope("chosen");
    transcript.identity(c.size(), "identity at the look-up point");
    S product = candidate_logit;
    if (logits.bias) {
      product -= context.parameter("bias", *logits.bias,
                                   chosen_biases(logits, context.candidates.ids, weights.of_candidates())) *
                 bias_scale(logits);
    }
    const unsigned feature_bits = logits.feature.dimensions()[0].bits();
    const auto sumcheck = verify_sumcheck(transcript, product, feature_bits + at[1].size(), ProductRelation{}.degree());
    const Point feature(sumcheck.point.begin(), sumcheck.point.begin() + feature_bits);
    const Point row(sumcheck.point.begin() + feature_bits, sumcheck.point.end());
    const S mixture = context.parameter("embedding", logits.embedding,
                                        weights.embedding_rows(logits.logits.dimensions()[0].bits(), row, feature));
    const S selected = transcript.receive("selected");
    transcript.check_equal(transcript.product(mixture, selected), sumcheck.value,
                           "logits of the candidates do not match the sum-check");
    claims.push_back({{Factor::at(feature), generated_rows(context.plan, row)}, selected});
  }
  const auto sampling_scope = transcript.scope("sampling");
  check_candidates(checks);
  check_hits(checks);
  return claims;
}

#define INSTANTIATE(S) template std::vector<WeightedClaimOf<S>> run_sampled(VerifierContext<S>&, const LogitsPlan&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
