#include "plan/sides.hpp"
#include "subprotocols/claim_reduction.hpp"

namespace tessera {

template <class Side>
void check_limits(Side& context, ClampId list, TensorId tensor) {
  if (!context.exceptions.checked(list)) {
    return;
  }
  const ClampedTensor& clamped = context.plan.clamped[list.list];
  const auto scope = context.transcript.scope(clamped.name);
  ReductionInputOf<ScalarFor<Side>> input{Integers::committed(tensor), {}};
  add_limit_claim(context.exceptions, list, input.claims);
  const auto reduced = reduce_claim(context, clamped.shape, input);
  context.ledger.add(witness_oracle, tensor, weight_at(reduced.point), reduced.value);
}

#define INSTANTIATE(Side) template void check_limits(Side&, ClampId, TensorId);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
