#include "layers/embedding/embedding.hpp"

#include <algorithm>

#include "layers/logits/logits.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

std::vector<std::uint32_t> row_tokens(const Plan& plan, const Statement& statement) {
  std::vector<std::uint32_t> tokens = prompt_rows(statement);
  tokens.insert(tokens.end(), statement.generated.begin(), statement.generated.end());
  tokens.resize(plan.tokens);
  tokens.resize(plan.rows, plan.filler);
  return tokens;
}

Factor row_positions(const Dimension& positions, std::size_t past, std::size_t rows, const Point& row) {
  Factor weight = Factor::of(std::vector<E>(std::size_t{1} << positions.bits()));
  const std::vector<E> weights = eq_table(row);
  for (std::size_t i = 0; i < rows; ++i) {
    if (past > 0 || i < positions.length) {
      weight.head[std::min(past + i, positions.length - 1)] += weights[i];
    }
  }
  return weight;
}

EmbeddingWeights embedding_weights(const Plan& plan, const EmbeddingPlan& embedding, const Statement& statement,
                                   const TensorPoint& at) {
  const std::vector<E> token_weights = eq_table(at[2]);
  EmbeddingWeights weights;
  weights.input = {Factor::one_hot(static_cast<unsigned>(at[0].size()), 0), Factor::at(at[1]), Factor::at(at[2])};
  if (embedding.position) {
    weights.position = {row_positions(embedding.positions, plan.past, plan.rows, at[2]), Factor::at(at[1])};
  }
  weights.embedding = token_rows(embedding.vocabulary.bits(), row_tokens(plan, statement), token_weights, at[1]);
  return weights;
}

template <class S>
void run(VerifierContext<S>& context, const EmbeddingPlan& embedding) {
  const auto scope = context.transcript.scope("embedding");
  const Plan& plan = context.plan;
  const TensorPoint at = embedding_point(embedding, context.lookup);
  EmbeddingWeights weights = embedding_weights(plan, embedding, context.statement, at);
  S embedded = context.committed("x_in", embedding.x_in.tensor, std::move(weights.input));
  if (embedding.position) {
    embedded = embedded - context.parameter("position", *embedding.position, std::move(weights.position));
  }
  if (embedding.shift > 0) {
    embedded = requantized<S>(embedding.rows, {at[1], at[2]}, embedded, context.lookup.value(embedding.remainder),
                              static_cast<unsigned>(embedding.shift));
  }
  context.transcript.identity(embedding.feature.bits() - embedding.feature.dimensions()[0].bits(),
                              "identity at the look-up point");
  context.ledger.add(parameter_oracle, embedding.embedding, std::move(weights.embedding), embedded);
}

#define INSTANTIATE(S) template void run(VerifierContext<S>&, const EmbeddingPlan&);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
