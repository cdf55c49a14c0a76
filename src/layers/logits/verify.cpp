#include "layers/logits/logits.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {

Factor generated_rows(const Plan& plan, const Point& point) {
  Factor weight = Factor::of(std::vector<E>(std::size_t{1} << ceil_log2(plan.rows)));
  for (std::size_t g = 0; g < plan.generated; ++g) {
    weight.head[plan.prompt_length + g - 1] = eq_index(point, g);
  }
  return weight;
}

std::vector<Factor> token_rows(unsigned bits, std::span<const std::uint32_t> tokens, std::span<const E> weights,
                               Point feature) {
  std::vector<Factor> weight(2);  // an initializer list would copy the rows, a megabyte of them
  weight[0] = Factor::of(std::vector<E>(std::size_t{1} << bits));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    weight[0].head[tokens[i]] += weights[i];
  }
  weight[1] = Factor::at(std::move(feature));
  return weight;
}

F bias_scale(const LogitsPlan& logits) { return two_to_the(static_cast<unsigned>(logits.bias_shift)); }

std::vector<Factor> chosen_biases(const LogitsPlan& logits, std::span<const std::uint32_t> tokens,
                                  std::span<const E> weights) {
  std::vector<Factor> weight(1);
  weight[0] = Factor::of(std::vector<E>(std::size_t{1} << logits.logits.dimensions()[0].bits()));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    weight[0].head[tokens[i]] += weights[i];
  }
  return weight;
}

template <class S>
WeightedClaimOf<S> run_all_logits(VerifierContext<S>& context, const LogitsPlan& logits, const S& logit) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("all");
  const TensorPoint at = context.lookup.point(logits.logits);
  const unsigned feature_bits = logits.feature.dimensions()[0].bits();
  S product = logit;
  if (logits.bias) {
    product -= less_than(at[1], context.plan.generated) *
               (context.parameter("bias", *logits.bias, weight_at({at[0]})) * bias_scale(logits));
  }
  const auto sumcheck = verify_sumcheck(transcript, product, feature_bits, ProductRelation{}.degree());
  const S row = context.parameter("embedding", logits.embedding, weight_at({at[0], sumcheck.point}));
  const S selected = transcript.receive("selected");
  transcript.check_equal(transcript.product(row, selected), sumcheck.value, "logits do not match the sum-check");
  return {{Factor::at(sumcheck.point), generated_rows(context.plan, at[1])}, selected};
}

template <class S>
std::vector<WeightedClaimOf<S>> run(VerifierContext<S>& context, const LogitsPlan& logits) {
  if (logits.sampled) {
    return run_sampled(context, logits);
  }
  if (logits.dense) {
    return run_dense(context, logits);
  }
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("logits");
  const Plan& plan = context.plan;
  const TensorPoint at = context.lookup.point(logits.logits);
  const unsigned feature_bits = logits.feature.dimensions()[0].bits();
  // logits of all rows, from their distances to the chosen ones'
  const S token_logit = context.committed("token_logit", logits.token_logit, weight_at({at[1]}));
  const std::vector<std::uint32_t>& tokens = context.statement.generated;
  const E below = transcript.public_value([&] {
    E sum;
    for (std::size_t g = 0; g < tokens.size(); ++g) {
      sum += eq_index(at[1], g) * less_than(at[0], tokens[g]);
    }
    return sum;
  });
  transcript.identity(at[0].size() + at[1].size(), "identity at the look-up point");
  const S logit = token_logit * less_than(at[0], logits.n_vocab) - below - context.lookup.value(logits.difference);
  std::vector<WeightedClaimOf<S>> claims;
  claims.push_back(run_all_logits(context, logits, logit));
  // the chosen ones' are products of the rows of E at the generated tokens
  const auto token_scope = transcript.scope("chosen");
  const TripleProductRelation relation;
  S product = token_logit;
  if (logits.bias) {
    product -=
        context.parameter("bias", *logits.bias, chosen_biases(logits, tokens, eq_table(at[1]))) * bias_scale(logits);
  }
  const auto sumcheck = verify_sumcheck(transcript, product, feature_bits + at[1].size(), relation.degree());
  const Point feature(sumcheck.point.begin(), sumcheck.point.begin() + feature_bits);
  const Point row(sumcheck.point.begin() + feature_bits, sumcheck.point.end());
  std::vector<E> weights;
  for (std::size_t g = 0; g < tokens.size(); ++g) {
    weights.push_back(eq_index(row, g));
  }
  const S chosen = context.parameter("embedding", logits.embedding,
                                     token_rows(logits.logits.dimensions()[0].bits(), tokens, weights, feature));
  const S selected = transcript.receive("selected");
  transcript.check_equal(transcript.value(relation, std::array<S, 3>{eq(at[1], row), chosen, selected}), sumcheck.value,
                         "logits of the generated tokens do not match the sum-check");
  claims.push_back({{Factor::at(feature), generated_rows(plan, row)}, selected});
  return claims;
}

#define INSTANTIATE(S)                                                                  \
  template std::vector<WeightedClaimOf<S>> run(VerifierContext<S>&, const LogitsPlan&); \
  template WeightedClaimOf<S> run_all_logits(VerifierContext<S>&, const LogitsPlan&, const S&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
