#include "subprotocols/requantization.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

void prove_requantization(ProverContext& context, RangeId id, const TensorPoint& at) {
  const RangeCheck& remainder = context.plan.ranges[id.range];
  for (const TensorId piece : remainder.committed) {
    context.committed(remainder.name, piece, weight_at(at));
  }
}

}  // namespace tessera
