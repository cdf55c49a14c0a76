#include "subprotocols/claim_reduction.hpp"

namespace tessera {

template <class S>
ReducedClaimsOf<S> verify_claim_reduction(VerifierView<S>& transcript, const Shape& shape,
                                          std::type_identity_t<std::span<const ReductionInputOf<S>>> tensors) {
  const auto scope = transcript.scope("reduce");
  std::size_t count = 0;
  for (const ReductionInputOf<S>& input : tensors) {
    count += input.claims.size();
  }
  const E gamma =
      count > 1 ? transcript.challenge("gamma", static_cast<double>(count - 1), "combination of claims") : E::one();
  E power = E::one();
  S target{};
  for (const ReductionInputOf<S>& input : tensors) {
    for (const WeightedClaimOf<S>& claim : input.claims) {
      target += power * claim.value;
      power *= gamma;
    }
  }
  const ReductionRelation relation{tensors.size()};
  const auto sumcheck = verify_sumcheck(transcript, target, shape.bits(), relation.degree());
  ReducedClaimsOf<S> reduced{to_tensor_point(shape, sumcheck.point), transcript.receive("values", tensors.size())};
  std::vector<S> factors = reduced.values;
  power = E::one();
  for (const ReductionInputOf<S>& input : tensors) {
    E weight;
    for (const WeightedClaimOf<S>& claim : input.claims) {
      weight += power * transcript.public_value([&] { return claim.weight_at(reduced.point); });
      power *= gamma;
    }
    factors.push_back(weight);
  }
  transcript.check_equal(transcript.value(relation, factors), sumcheck.value,
                         "reduced claims do not match the sum-check");
  return reduced;
}

template <class S>
void verify_limits(VerifierContext<S>& context, ClampId list, TensorId tensor) {
  if (!context.exceptions.checked(list)) {
    return;
  }
  const ClampedTensor& clamped = context.plan.clamped[list.list];
  const auto scope = context.transcript.scope(clamped.name);
  ReductionInputOf<S> input;
  add_limit_claim(context.exceptions, list, input.claims);
  const ReducedClaimsOf<S> reduced = verify_claim_reduction(context.transcript, clamped.shape, std::span(&input, 1));
  context.ledger.add(witness_oracle, tensor, weight_at(reduced.point), reduced.values.front());
}

#define INSTANTIATE(S)                                                                      \
  template ReducedClaimsOf<S> verify_claim_reduction(VerifierView<S>&, const Shape&,        \
                                                     std::span<const ReductionInputOf<S>>); \
  template void verify_limits(VerifierContext<S>&, ClampId, TensorId);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
