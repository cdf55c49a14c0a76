#include "layers/stream_input/stream_input.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class S>
void run(VerifierContext<S>& context, const StreamInput& input,
         std::type_identity_t<std::vector<WeightedClaimOf<S>>> consumers) {
  const auto scope = context.transcript.scope("stream_input");
  const PointClaimOf<S> x = verify_requantized_claims<S>(context, input.u, input.remainder, std::move(consumers));
  context.ledger.add(witness_oracle, input.x.tensor, weight_at(x.point), x.value);
}

#define INSTANTIATE(S) template void run(VerifierContext<S>&, const StreamInput&, std::vector<WeightedClaimOf<S>>);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
