#include "layers/embedding/embedding.hpp"

#include <algorithm>

#include "layers/logits/logits.hpp"

namespace tessera {

std::vector<std::uint32_t> padded_tokens(const Plan& plan, const Statement& statement) {
  std::vector<std::uint32_t> tokens = prompt_rows(statement);
  tokens.insert(tokens.end(), statement.generated.begin(), statement.generated.end());
  tokens.resize(plan.tokens);
  tokens.resize(plan.padded_tokens, plan.filler);
  return tokens;
}

Factor row_positions(const Dimension& positions, std::size_t past, const Point& row) {
  const unsigned bits = positions.bits();
  if (past == 0) {
    return Factor::at(join(Point(bits - row.size()), row));
  }
  Factor weight = Factor::of(std::vector<E>(std::size_t{1} << bits));
  const std::vector<E> rows = eq_table(row);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    weight.head[std::min(past + i, positions.length - 1)] += rows[i];
  }
  return weight;
}

EmbeddingWeights embedding_weights(const Plan& plan, const EmbeddingPlan& embedding, const Statement& statement,
                                   const TensorPoint& at) {
  const std::vector<E> token_weights = eq_table(at[2]);
  EmbeddingWeights weights;
  weights.input = {Factor::one_hot(static_cast<unsigned>(at[0].size()), 0), Factor::at(at[1]), Factor::at(at[2])};
  weights.position = {row_positions(embedding.positions, plan.past, at[2]), Factor::at(at[1])};
  weights.embedding = {token_rows(embedding.vocabulary.bits(), padded_tokens(plan, statement), token_weights),
                       Factor::at(at[1])};
  return weights;
}

template <class S>
void run(VerifierContext<S>& context, const EmbeddingPlan& embedding) {
  const auto scope = context.transcript.scope("embedding");
  const Plan& plan = context.plan;
  EmbeddingWeights weights =
      embedding_weights(plan, embedding, context.statement, context.lookup.point(embedding.feature));
  const S input = context.committed("x_in", embedding.x_in.tensor, std::move(weights.input));
  const S placed = context.parameter("position", embedding.position, std::move(weights.position));
  context.transcript.identity(embedding.feature.bits() - embedding.feature.dimensions()[0].bits(),
                              "identity at the look-up point");
  context.ledger.add(parameter_oracle, embedding.embedding, std::move(weights.embedding), input - placed);
}

template void run(VerifierContext<E>&, const EmbeddingPlan&);
template void run(VerifierContext<Nothing>&, const EmbeddingPlan&);

}  // namespace tessera
