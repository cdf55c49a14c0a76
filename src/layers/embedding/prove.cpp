#include "layers/embedding/embedding.hpp"
#include "plan/witness.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

void prove_embedding(ProverContext& context) {
  const auto scope = context.transcript.scope("embedding");
  const Plan& plan = context.plan;
  EmbeddingWeights weights =
      embedding_weights(plan, context.statement, context.lookup.point(plan.shapes.block_feature));
  const E input = context.committed("x_in", plan.x_in, std::move(weights.input));
  const E placed = context.parameter("position", position, std::move(weights.position));
  context.ledger.parameters.push_back({embedding, std::move(weights.embedding), input - placed});
}

}  // namespace tessera
