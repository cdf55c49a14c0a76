#include "sumcheck/sumcheck.hpp"

#include <optional>

namespace tessera {

namespace {

/// `at`: the eq factor's coordinates, or none.
template <class S>
SumcheckResultOf<S> verify_rounds(VerifierView<S>& transcript, S claim, std::size_t variables,
                                  std::optional<std::span<const E>> at, std::size_t degree) {
  // h(0) + h(1) = claim is (1-a)*h(0) + a*h(1) = claim/2 at a = 1/2
  const E half = E(F::from_canonical(2).inverse());
  const std::size_t whole_degree = at ? degree + 1 : degree;
  transcript.sumcheck(variables, whole_degree);
  SumcheckResultOf<S> result{Point(variables), claim};
  for (std::size_t i = variables; i-- > 0;) {
    const std::vector<S> round = transcript.receive("round", degree);
    const E challenge = transcript.challenge("bind", static_cast<double>(whole_degree), "sum-check rounds");
    result.value = at ? round_value<S>(result.value, (*at)[i], round, challenge)
                      : round_value<S>(result.value * half, half, round, challenge);
    result.point[i] = challenge;
  }
  return result;
}

}  // namespace

template <class S>
SumcheckResultOf<S> verify_sumcheck(VerifierView<S>& transcript, std::type_identity_t<S> claim, std::size_t variables,
                                    std::size_t degree) {
  return verify_rounds<S>(transcript, claim, variables, std::nullopt, degree);
}

template <class S>
SumcheckResultOf<S> verify_eq_sumcheck(VerifierView<S>& transcript, std::type_identity_t<S> claim,
                                       std::span<const E> at, std::size_t degree) {
  return verify_rounds<S>(transcript, claim, at.size(), at, degree);
}

#define INSTANTIATE(S)                                                                         \
  template SumcheckResultOf<S> verify_sumcheck(VerifierView<S>&, S, std::size_t, std::size_t); \
  template SumcheckResultOf<S> verify_eq_sumcheck(VerifierView<S>&, S, std::span<const E>, std::size_t);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
