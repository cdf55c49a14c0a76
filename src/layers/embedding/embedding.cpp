#include "layers/embedding/embedding.hpp"

#include <algorithm>

#include "layers/logits/logits.hpp"

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

}  // namespace tessera
