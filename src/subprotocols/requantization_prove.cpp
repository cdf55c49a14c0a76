#include "subprotocols/requantization.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

void prove_requantization(ProverContext& context, const RangeCheck& remainder, const TensorPoint& at) {
  for (const TensorId piece : remainder.committed) {
    context.committed(remainder.name, piece, weight_at(at));
  }
}

}  // namespace tessera
