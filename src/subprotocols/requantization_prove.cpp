#include "subprotocols/requantization.hpp"

#include "plan/prover_context.hpp"
#include "plan/witness.hpp"
#include "subprotocols/claim_reduction.hpp"

namespace tessera {

void prove_requantization(ProverContext& context, RangeId id, const TensorPoint& at) {
  const RangeCheck& remainder = context.plan.ranges[id.range];
  for (const TensorId piece : remainder.committed) {
    context.committed(remainder.name, piece, weight_at(at));
  }
}

TensorPoint prove_requantized_claims(ProverContext& context, RangeId y, std::size_t recorded, RangeId remainder,
                                     std::vector<WeightedClaim> consumers) {
  const Shape& shape = context.plan.ranges[y.range].shape;
  consumers.insert(consumers.begin(), {weight_at(context.lookup.point(shape)), E::zero()});
  add_limit_claim(context.exceptions, y.clamp, consumers);
  const ReductionInput claims{std::move(consumers)};
  const IntegerTensor tensor = context.witness.recorded[recorded];
  const ReducedClaims reduced = prove_claim_reduction(context, shape, std::span(&tensor, 1), std::span(&claims, 1));
  prove_requantization(context, remainder, reduced.point);
  return reduced.point;
}

TensorPoint prove_looked_up(ProverContext& context, ClampId list, const IntegerTensor& z, RangeId remainder) {
  const Shape& shape = context.plan.ranges[remainder.range].shape;
  const TensorPoint at = context.lookup.point(shape);
  if (!context.exceptions.checked(list)) {
    return at;
  }
  ReductionInput claims{{{weight_at(at), E::zero()}}};
  add_limit_claim(context.exceptions, list, claims.claims);
  const ReducedClaims reduced = prove_claim_reduction(context, shape, std::span(&z, 1), std::span(&claims, 1));
  prove_requantization(context, remainder, reduced.point);
  return reduced.point;
}

}  // namespace tessera
