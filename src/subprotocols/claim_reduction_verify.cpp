#include "subprotocols/claim_reduction.hpp"

namespace tessera {

ReducedClaims verify_claim_reduction(VerifierTranscript& transcript, const Shape& shape,
                                     std::span<const ReductionInput> tensors) {
  const auto scope = transcript.scope("reduce");
  const E gamma = transcript.challenge("gamma");
  E power = E::one();
  E target;
  for (const ReductionInput& input : tensors) {
    for (const WeightedClaim& claim : input.claims) {
      target += power * claim.value;
      power *= gamma;
    }
  }
  const ReductionRelation relation{tensors.size()};
  const SumcheckResult sumcheck = verify_sumcheck(transcript, target, shape.bits(), relation.degree());
  ReducedClaims reduced{to_tensor_point(shape, sumcheck.point), transcript.receive("values", tensors.size())};
  std::vector<E> factors = reduced.values;
  power = E::one();
  for (const ReductionInput& input : tensors) {
    E weight;
    for (const WeightedClaim& claim : input.claims) {
      weight += power * evaluate_weight(claim.weight, reduced.point);
      power *= gamma;
    }
    factors.push_back(weight);
  }
  transcript.check(relation(factors) == sumcheck.value, "reduced claims do not match the sum-check");
  return reduced;
}

}  // namespace tessera
