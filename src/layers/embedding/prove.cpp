#include "layers/embedding/embedding.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

void run(ProverContext& context, const EmbeddingPlan& embedding) {
  const auto scope = context.transcript.scope("embedding");
  const Plan& plan = context.plan;
  EmbeddingWeights weights =
      embedding_weights(plan, embedding, context.statement, context.lookup.point(embedding.feature));
  const E input = context.committed("x_in", embedding.x_in.tensor, std::move(weights.input));
  const E placed = context.parameter("position", embedding.position, std::move(weights.position));
  context.ledger.add(parameter_oracle, embedding.embedding, std::move(weights.embedding), input - placed);
}

}  // namespace tessera
