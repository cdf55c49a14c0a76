#include "subprotocols/requantization.hpp"

#include "subprotocols/claim_reduction.hpp"

namespace tessera {

template <class S>
S requantized_at_lookup(VerifierContext<S>& context, RangeId id, std::type_identity_t<S> value) {
  const RangeCheck& remainder = context.plan.ranges[id.range];
  context.transcript.identity(remainder.shape.bits(), "identity at the look-up point");
  return requantized<S>(remainder.shape, context.lookup.point(remainder.shape), value, context.lookup.value(remainder),
                        remainder.width);
}

template <class S>
S verify_requantization(VerifierContext<S>& context, RangeId id, const TensorPoint& at, std::type_identity_t<S> value) {
  const RangeCheck& remainder = context.plan.ranges[id.range];
  S sum{};
  for (std::size_t i = 0; i < remainder.committed.size(); ++i) {
    const S piece = context.committed(remainder.name, remainder.committed[i], weight_at(at));
    sum += piece * two_to_the(static_cast<unsigned>(16 * i));
  }
  return requantized<S>(remainder.shape, at, value, sum, remainder.width);
}

template <class S>
PointClaimOf<S> verify_requantized_claims(VerifierContext<S>& context, RangeId y, RangeId remainder,
                                          std::type_identity_t<std::vector<WeightedClaimOf<S>>> consumers) {
  const Shape& shape = context.plan.ranges[y.range].shape;
  consumers.insert(consumers.begin(), {weight_at(context.lookup.point(shape)), context.lookup.value(y)});
  add_limit_claim(context.exceptions, y.clamp, consumers);
  const ReductionInputOf<S> claims{std::move(consumers)};
  const ReducedClaimsOf<S> reduced = verify_claim_reduction(context.transcript, shape, std::span(&claims, 1));
  const S rounded = reduced.values.front() + context.exceptions.excess_at(y.clamp, reduced.point);
  return {reduced.point, verify_requantization(context, remainder, reduced.point, rounded)};
}

template <class S>
PointClaimOf<S> verify_looked_up(VerifierContext<S>& context, ClampId list, RangeId remainder,
                                 std::type_identity_t<S> value) {
  const Shape& shape = context.plan.ranges[remainder.range].shape;
  const TensorPoint at = context.lookup.point(shape);
  if (!context.exceptions.checked(list)) {
    return {at, requantized_at_lookup(context, remainder, value)};
  }
  ReductionInputOf<S> claims{{{weight_at(at), std::move(value)}}};
  add_limit_claim(context.exceptions, list, claims.claims);
  const ReducedClaimsOf<S> reduced = verify_claim_reduction(context.transcript, shape, std::span(&claims, 1));
  const S rounded = reduced.values.front() + context.exceptions.excess_at(list, reduced.point);
  return {reduced.point, verify_requantization(context, remainder, reduced.point, rounded)};
}

#define INSTANTIATE(S)                                                                      \
  template PointClaimOf<S> verify_looked_up(VerifierContext<S>&, ClampId, RangeId, S);      \
  template S requantized_at_lookup(VerifierContext<S>&, RangeId, S);                        \
  template S verify_requantization(VerifierContext<S>&, RangeId, const TensorPoint&, S);    \
  template PointClaimOf<S> verify_requantized_claims(VerifierContext<S>&, RangeId, RangeId, \
                                                     std::vector<WeightedClaimOf<S>>);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
