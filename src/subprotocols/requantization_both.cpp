#include <stdexcept>

#include "plan/sides.hpp"
#include "subprotocols/claim_reduction.hpp"
#include "subprotocols/requantization.hpp"

namespace tessera {

template <class Side>
ScalarFor<Side> requantized_at_lookup(Side& context, RangeId id, ScalarFor<Side> value) {
  const RangeCheck& remainder = context.plan.ranges[id.range];
  context.transcript.identity(remainder.shape.bits(), "identity at the look-up point");
  return requantized<ScalarFor<Side>>(remainder.shape, context.lookup.point(remainder.shape), std::move(value),
                                      context.lookup.value(remainder), remainder.width);
}

template <class Side>
ScalarFor<Side> requantization(Side& context, RangeId id, const TensorPoint& at, ScalarFor<Side> value) {
  const RangeCheck& remainder = context.plan.ranges[id.range];
  if (remainder.committed.size() != remainder.pieces()) {
    throw std::logic_error(remainder.name +
                           ": a remainder that is not committed has a value at the look-up point alone");
  }
  ScalarFor<Side> sum{};
  for (std::size_t i = 0; i < remainder.committed.size(); ++i) {
    const auto piece = context.committed(remainder.name, remainder.committed[i], weight_at(at));
    sum += piece * two_to_the(static_cast<unsigned>(16 * i));
  }
  return requantized<ScalarFor<Side>>(remainder.shape, at, std::move(value), std::move(sum), remainder.width);
}

namespace {

/// The claims on a value and, where its list is checked, that it is at its limits there, become one on A.
template <class Side>
PointClaimFor<Side> reduced_and_requantized(Side& context, ClampId list, const Integers& values, RangeId remainder,
                                            std::vector<WeightedClaimFor<Side>> claims) {
  add_limit_claim(context.exceptions, list, claims);
  const auto reduced = reduce_claim(context, context.plan.ranges[remainder.range].shape, {values, std::move(claims)});
  return {reduced.point, requantization(context, remainder, reduced.point,
                                        reduced.value + context.exceptions.excess_at(list, reduced.point))};
}

}  // namespace

template <class Side>
PointClaimFor<Side> requantized_claims(Side& context, const RangedIntegers& y, RangeId remainder,
                                       std::vector<WeightedClaimFor<Side>> consumers) {
  const Shape& shape = context.plan.ranges[y.range].shape;
  consumers.insert(consumers.begin(), {weight_at(context.lookup.point(shape)), context.lookup.value(y)});
  return reduced_and_requantized(context, y.clamp, y.values, remainder, std::move(consumers));
}

template <class Side>
PointClaimFor<Side> looked_up(Side& context, ClampId list, const Integers& z, RangeId remainder,
                              ScalarFor<Side> value) {
  const TensorPoint at = context.lookup.point(context.plan.ranges[remainder.range].shape);
  if (!context.exceptions.checked(list)) {
    return {at, requantized_at_lookup(context, remainder, std::move(value))};
  }
  return reduced_and_requantized(context, list, z, remainder, {{weight_at(at), std::move(value)}});
}

#define INSTANTIATE(Side)                                                                       \
  template ScalarFor<Side> requantized_at_lookup(Side&, RangeId, ScalarFor<Side>);              \
  template ScalarFor<Side> requantization(Side&, RangeId, const TensorPoint&, ScalarFor<Side>); \
  template PointClaimFor<Side> requantized_claims(Side&, const RangedIntegers&, RangeId,        \
                                                  std::vector<WeightedClaimFor<Side>>);         \
  template PointClaimFor<Side> looked_up(Side&, ClampId, const Integers&, RangeId, ScalarFor<Side>);
TESSERA_FOR_SIDES(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
