#include "sumcheck/sumcheck.hpp"

namespace tessera {
E round_value(E claim, E a, std::span<const E> higher_coefficients, E x) {
  E at_zero = claim;
  E value;
  for (std::size_t i = higher_coefficients.size(); i-- > 0;) {
    at_zero -= a * higher_coefficients[i];
    value = (value + higher_coefficients[i]) * x;
  }
  return value + at_zero;
}

SumcheckResult verify_sumcheck(VerifierTranscript& transcript, E claim, std::size_t variables, std::size_t degree) {
  // h(0) + h(1) = claim is (1-a)*h(0) + a*h(1) = claim/2 at a = 1/2
  const E half = E(F::from_canonical(2).inverse());
  SumcheckResult result{Point(variables), claim};
  for (std::size_t i = variables; i-- > 0;) {
    const std::vector<E> round = transcript.receive("round", degree);
    const E challenge = transcript.challenge("bind");
    result.value = round_value(result.value * half, half, round, challenge);
    result.point[i] = challenge;
  }
  return result;
}

SumcheckResult verify_eq_sumcheck(VerifierTranscript& transcript, E claim, std::span<const E> at, std::size_t degree) {
  SumcheckResult result{Point(at.size()), claim};
  for (std::size_t i = at.size(); i-- > 0;) {
    const std::vector<E> round = transcript.receive("round", degree);
    const E challenge = transcript.challenge("bind");
    result.value = round_value(result.value, at[i], round, challenge);
    result.point[i] = challenge;
  }
  return result;
}

}  // namespace tessera
