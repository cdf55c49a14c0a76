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
template <class S>
S requantized_at_lookup(VerifierContext<S>& context, RangeId remainder, std::type_identity_t<S> value);
/// Receives rem's pieces at `at` and returns A(at).
template <class S>
S verify_requantization(VerifierContext<S>& context, RangeId remainder, const TensorPoint& at,
                        std::type_identity_t<S> value);
void prove_requantization(ProverContext& context, RangeId remainder, const TensorPoint& at);

/// What a layer adds to its product at a point of (.., rows): a bias, shifted left, in every row that is present.
///   | # | from | message                                             |
///   | 1 | P    | `label`: the bias at the point without its rows: claim |
template <class S>
S verify_bias(VerifierContext<S>& context, std::string_view label, ParameterId bias, int shift, const Shape& shape,
              const TensorPoint& at) {
  const S value = context.parameter(label, bias, weight_at({at.begin(), at.end() - 1}));
  return presence_along(shape.dimensions().back(), at.back()) * value * two_to_the(static_cast<unsigned>(shift));
}

/// All claims on y, its look-up's and `consumers`, become one on A.
///   | # | from | message                                                        |
///   | 1 | P/V  | reduction of the claims on y to y(r) (claim_reduction.hpp)      |
///   | 2 | P    | requantization at r gives A(r)                                  |
template <class S>
PointClaimOf<S> verify_requantized_claims(VerifierContext<S>& context, RangeId y, RangeId remainder,
                                          std::type_identity_t<std::vector<WeightedClaimOf<S>>> consumers);
/// A of a value z that no other layer has a claim on, from z(p) at its look-up point p. If z's list of exceptions is
/// checked, a reduction leads from p to another point first, and the pieces of rem there are claims.
template <class S>
PointClaimOf<S> verify_looked_up(VerifierContext<S>& context, ClampId list, RangeId remainder,
                                 std::type_identity_t<S> value);
/// Returns the point of the claim on A.
TensorPoint prove_looked_up(ProverContext& context, ClampId list, const IntegerTensor& z, RangeId remainder);
/// Returns r. `recorded`: the number of y's values among what is recorded.
TensorPoint prove_requantized_claims(ProverContext& context, RangeId y, std::size_t recorded, RangeId remainder,
                                     std::vector<WeightedClaim> consumers);
template <class T>
TensorPoint prove_requantized_claims(ProverContext& context, const RecordedRange<T>& y, RangeId remainder,
                                     std::vector<WeightedClaim> consumers) {
  return prove_requantized_claims(context, y, y.recorded, remainder, std::move(consumers));
}

}  // namespace tessera
