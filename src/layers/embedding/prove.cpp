#include "layers/embedding/embedding.hpp"
#include "subprotocols/requantization.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

void run(ProverContext& context, const EmbeddingPlan& embedding) {
  const auto scope = context.transcript.scope("embedding");
  const Plan& plan = context.plan;
  const TensorPoint at = embedding_point(embedding, context.lookup);
  EmbeddingWeights weights = embedding_weights(plan, embedding, context.statement, at);
  E embedded = context.committed("x_in", embedding.x_in.tensor, std::move(weights.input));
  if (embedding.position) {
    embedded -= context.parameter("position", *embedding.position, std::move(weights.position));
  }
  if (embedding.shift > 0) {
    embedded = requantized<E>(embedding.rows, {at[1], at[2]}, embedded, context.lookup.value(embedding.remainder),
                              static_cast<unsigned>(embedding.shift));
  }
  context.ledger.add(parameter_oracle, embedding.embedding, std::move(weights.embedding), embedded);
}

}  // namespace tessera
