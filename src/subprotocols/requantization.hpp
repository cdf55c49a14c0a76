#pragma once

#include "plan/context.hpp"

namespace tessera {

/// Requantization y = rshift(A, S): A + 2^(S-1) = y*2^S + rem, y and rem range-checked.
/// Statement: y(r) = value. Identity: A(r) = 2^S*y(r) + rem(r) - 2^(S-1)*Pres(r).
///   | # | from | message                                              |
///   | 1 | P    | the pieces of rem at r: claims on committed pieces    |
/// At the look-up point the pieces are known already and nothing is sent. No error of its own.
template <class S>
S requantized(const Shape& shape, const TensorPoint& at, S value, S remainder, unsigned shift) {
  return value * two_to_the(shift) + remainder - presence_at(shape, at) * two_to_the(shift - 1);
}

/// Where y may be clamped, `value` is y plus its excess E (plan/exceptions.hpp) at the point.

/// A at the look-up point of y, from y there.
template <class Side>
ScalarFor<Side> requantized_at_lookup(Side& context, RangeId remainder, ScalarFor<Side> value);
/// A(at); rem's pieces at `at` are sent.
template <class Side>
ScalarFor<Side> requantization(Side& context, RangeId remainder, const TensorPoint& at, ScalarFor<Side> value);

/// Takes from a claim on what a layer adds up what it adds to its product there, at a point of (.., rows): a bias,
/// shifted left, in every row that is present. Nothing if there is none.
///   | # | from | message                                             |
///   | 1 | P    | `label`: the bias at the point without its rows: claim |
template <class Side>
void subtract_bias(Side& context, std::string_view label, const std::optional<ParameterId>& bias, int shift,
                   const Shape& shape, PointClaimFor<Side>& claim) {
  if (bias) {
    const TensorPoint& at = claim.point;
    const auto value = context.parameter(label, *bias, weight_at({at.begin(), at.end() - 1}));
    claim.value -=
        presence_along(shape.dimensions().back(), at.back()) * value * two_to_the(static_cast<unsigned>(shift));
  }
}

/// All claims on y, its look-up's and `consumers`, become one on A.
///   | # | from | message                                                        |
///   | 1 | P/V  | reduction of the claims on y to y(r) (claim_reduction.hpp)      |
///   | 2 | P    | requantization at r gives A(r)                                  |
template <class Side>
PointClaimFor<Side> requantized_claims(Side& context, const RangedIntegers& y, RangeId remainder,
                                       std::vector<WeightedClaimFor<Side>> consumers);
/// A of a value z that no other layer has a claim on, from z(p) at its look-up point p. If z's list of exceptions is
/// checked, a reduction leads from p to another point first, and the pieces of rem there are claims.
template <class Side>
PointClaimFor<Side> looked_up(Side& context, ClampId list, const Integers& z, RangeId remainder, ScalarFor<Side> value);

}  // namespace tessera
