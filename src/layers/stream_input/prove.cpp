#include "layers/stream_input/stream_input.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

void run(ProverContext& context, const StreamInput& input, std::vector<WeightedClaim> consumers) {
  const auto scope = context.transcript.scope("stream_input");
  const TensorPoint point = prove_requantized_claims(context, input.u, input.remainder, std::move(consumers));
  const E x = weighted_sum(context.witness.tensors[input.x.tensor], input.feature, weight_at(point), context.comm);
  context.ledger.add(witness_oracle, input.x.tensor, weight_at(point), x);
}

}  // namespace tessera
