#include "plan/sides.hpp"
#include "layers/embedding/embedding.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class Side>
void run(Side& context, const EmbeddingPlan& embedding) {
  const auto scope = context.transcript.scope("embedding");
  const Plan& plan = context.plan;
  const TensorPoint at = embedding_point(embedding, context.lookup);
  EmbeddingWeights weights = embedding_weights(plan, embedding, context.statement, at);
  auto embedded = context.committed("x_in", embedding.x_in.tensor, std::move(weights.input));
  if (embedding.position) {
    embedded = embedded - context.parameter("position", *embedding.position, std::move(weights.position));
  }
  if (embedding.shift > 0) {
    embedded =
        requantized<ScalarFor<Side>>(embedding.rows, {at[1], at[2]}, embedded,
                                     context.lookup.value(embedding.remainder), static_cast<unsigned>(embedding.shift));
  }
  context.transcript.identity(embedding.feature.bits() - embedding.feature.dimensions()[0].bits(),
                              "identity at the look-up point");
  context.ledger.add(parameter_oracle, embedding.embedding, std::move(weights.embedding), embedded);
}

#define INSTANTIATE(Side) template void run(Side&, const EmbeddingPlan&);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
