#include "layers/logits/logits.hpp"
#include "sumcheck/product_relations.hpp"

namespace tessera {

Factor generated_rows(const Plan& plan, const Point& point) {
  Factor weight = Factor::of(std::vector<E>(plan.padded_tokens));
  for (std::size_t g = 0; g < plan.generated; ++g) {
    weight.head[plan.prompt_length + g - 1] = eq_index(point, g);
  }
  return weight;
}

Factor token_rows(const Plan& plan, std::span<const std::uint32_t> tokens, std::span<const E> weights) {
  const unsigned bits = plan.parameter_layout.tensors()[embedding].dimensions()[0].bits();
  Factor weight = Factor::of(std::vector<E>(std::size_t{1} << bits));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    weight.head[tokens[i]] += weights[i];
  }
  return weight;
}

std::vector<WeightedClaim> verify_logits(VerifierContext& context) {
  VerifierTranscript& transcript = context.transcript;
  const auto scope = transcript.scope("logits");
  const Plan& plan = context.plan;
  const TensorPoint at = context.lookup.point(plan.logits);
  const unsigned feature_bits = plan.shapes.feature.dimensions()[0].bits();
  // 1
  const E token_logit = context.committed("token_logit", plan.token_logit, weight_at({at[1]}));
  const std::vector<std::uint32_t>& tokens = context.statement.generated;
  E below;
  for (std::size_t g = 0; g < tokens.size(); ++g) {
    below += eq_index(at[1], g) * less_than(at[0], tokens[g]);
  }
  const E logit =
      token_logit * less_than(at[0], plan.model.n_vocab) - below - context.lookup.value(plan.logit_difference);
  std::vector<WeightedClaim> claims;
  // 2
  {
    const auto all_scope = transcript.scope("all");
    const SumcheckResult sumcheck = verify_sumcheck(transcript, logit, feature_bits, ProductRelation{}.degree());
    const E row = context.parameter("embedding", embedding, weight_at({at[0], sumcheck.point}));
    const E selected = transcript.receive("selected");
    transcript.check(ProductRelation{}(std::array{row, selected}) == sumcheck.value,
                     "logits do not match the sum-check");
    claims.push_back({{Factor::at(sumcheck.point), generated_rows(plan, at[1])}, selected});
  }
  // 3
  const auto token_scope = transcript.scope("chosen");
  const TripleProductRelation relation;
  const SumcheckResult sumcheck =
      verify_sumcheck(transcript, token_logit, feature_bits + at[1].size(), relation.degree());
  const Point feature(sumcheck.point.begin(), sumcheck.point.begin() + feature_bits);
  const Point row(sumcheck.point.begin() + feature_bits, sumcheck.point.end());
  std::vector<E> weights;
  for (std::size_t g = 0; g < tokens.size(); ++g) {
    weights.push_back(eq_index(row, g));
  }
  const E chosen = context.parameter("embedding", embedding, {token_rows(plan, tokens, weights), Factor::at(feature)});
  const E selected = transcript.receive("selected");
  transcript.check(relation(std::array{eq(at[1], row), chosen, selected}) == sumcheck.value,
                   "logits of the generated tokens do not match the sum-check");
  claims.push_back({{Factor::at(feature), generated_rows(plan, row)}, selected});
  return claims;
}

}  // namespace tessera
