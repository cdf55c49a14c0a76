#include "plan/sides.hpp"
#include "layers/stream_input/stream_input.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class Side>
void run(Side& context, const StreamInput& input, std::vector<WeightedClaimFor<Side>> consumers) {
  const auto scope = context.transcript.scope("stream_input");
  const auto x = requantized_claims(context, input.u, input.remainder, std::move(consumers));
  context.ledger.add(witness_oracle, input.x.tensor, weight_at(x.point), x.value);
}

#define INSTANTIATE(Side) template void run(Side&, const StreamInput&, std::vector<WeightedClaimFor<Side>>);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
