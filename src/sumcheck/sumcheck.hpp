#pragma once

#include <concepts>

#include "tensor/multilinear.hpp"
#include "transcript/transcript.hpp"

namespace tessera {

/// The summand of a sum-check, written once for prover and verifier: a polynomial of total degree `degree` in the
/// values of its factors (multilinear polynomials over the same variables). With an eq factor, `degree` does not count
/// it.
template <class R>
concept Relation = requires(const R relation, std::span<const E> values) {
  { relation.degree() } -> std::convertible_to<std::size_t>;
  { relation.factors() } -> std::convertible_to<std::size_t>;
  { relation(values) } -> std::same_as<E>;
};

/// How a sum-check ended: the point (in the order of the variables, most significant first; the last one was bound
/// first) and the claimed value of the summand there (without the eq factor).
struct SumcheckResult {
  Point point;
  E value;
};

/// Verifies claim = sum_x g(x) over `variables` boolean variables, g of degree `degree` in each.
///
/// Round message: coefficients h_1..h_D of the round polynomial h; h_0 follows from claim = 2*h_0 + sum h_i.
///   | # | from | message                         |
///   | 1 | P    | round: D elements of E          |
///   | 2 | V    | challenge c, claim := h(c)      |
/// Error degree/|E| a round. The caller checks the returned value against g's factors at the point.
SumcheckResult verify_sumcheck(VerifierTranscript& transcript, E claim, std::size_t variables, std::size_t degree);

/// Verifies claim = sum_x beta(at, x)*g(x): h is the round polynomial without the eq factor, and
/// claim = (1-a)*h(0) + a*h(1) = h_0 + a*sum_{i>=1} h_i gives h_0 for the variable's coordinate a of `at`.
/// Error (degree+1)/|E| a round.
SumcheckResult verify_eq_sumcheck(VerifierTranscript& transcript, E claim, std::span<const E> at, std::size_t degree);

/// The round polynomial's value at x from its coefficients h_1.. and the claim h_0 + a*sum h_i = claim
/// (a = 1/2 and a halved claim for the plain form).
E round_value(E claim, E a, std::span<const E> higher_coefficients, E x);

}  // namespace tessera
