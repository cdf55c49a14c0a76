#pragma once

#include "sumcheck/relation.hpp"
#include "tensor/multilinear.hpp"
#include "transcript/hiding_verifier.hpp"

namespace tessera {

/// How a sum-check ended: the point (in the order of the variables, most significant first; the last one was bound
/// first) and the claimed value of the summand there (without the eq factor).
template <class S>
struct SumcheckResultOf {
  Point point;
  S value;
};
using SumcheckResult = SumcheckResultOf<E>;

/// Verifies claim = sum_x g(x) over `variables` boolean variables, g of degree `degree` in each.
///
/// Round message: coefficients h_1..h_D of the round polynomial h; h_0 follows from claim = 2*h_0 + sum h_i.
///   | # | from | message                         |
///   | 1 | P    | round: D elements of E          |
///   | 2 | V    | challenge c, claim := h(c)      |
/// Error degree/|E| a round. The caller checks the returned value against g's factors at the point.
template <class S>
SumcheckResultOf<S> verify_sumcheck(VerifierView<S>& transcript, std::type_identity_t<S> claim, std::size_t variables,
                                    std::size_t degree);

/// Verifies claim = sum_x beta(at, x)*g(x): h is the round polynomial without the eq factor, and
/// claim = (1-a)*h(0) + a*h(1) = h_0 + a*sum_{i>=1} h_i gives h_0 for the variable's coordinate a of `at`.
/// Error (degree+1)/|E| a round.
template <class S>
SumcheckResultOf<S> verify_eq_sumcheck(VerifierView<S>& transcript, std::type_identity_t<S> claim,
                                       std::span<const E> at, std::size_t degree);

/// The round polynomial's value at x from its coefficients h_1.. and the claim h_0 + a*sum h_i = claim
/// (a = 1/2 and a halved claim for the plain form).
template <class S>
S round_value(S claim, E a, std::type_identity_t<std::span<const S>> higher_coefficients, E x) {
  S at_zero = claim;
  S value{};
  for (std::size_t i = higher_coefficients.size(); i-- > 0;) {
    at_zero -= a * higher_coefficients[i];
    value = (value + higher_coefficients[i]) * x;
  }
  return value + at_zero;
}

}  // namespace tessera
