#include "subprotocols/claim_reduction.hpp"

namespace tessera {

template <class S>
ReducedClaimsOf<S> reduce_claims(VerifierContext<S>& context, const Shape& shape,
                                 std::type_identity_t<std::span<const ReductionInputOf<S>>> inputs) {
  VerifierView<S>& transcript = context.transcript;
  const auto scope = transcript.scope("reduce");
  std::size_t count = 0;
  for (const ReductionInputOf<S>& input : inputs) {
    count += input.claims.size();
  }
  const E gamma =
      count > 1 ? transcript.challenge("gamma", static_cast<double>(count - 1), "combination of claims") : E::one();
  E power = E::one();
  S target{};
  for (const ReductionInputOf<S>& input : inputs) {
    for (const WeightedClaimOf<S>& claim : input.claims) {
      target += power * claim.value;
      power *= gamma;
    }
  }
  const ReductionRelation relation{inputs.size()};
  const auto sumcheck = verify_sumcheck(transcript, target, shape.bits(), relation.degree());
  ReducedClaimsOf<S> reduced{to_tensor_point(shape, sumcheck.point), transcript.receive("values", inputs.size())};
  std::vector<S> factors = reduced.values;
  power = E::one();
  for (const ReductionInputOf<S>& input : inputs) {
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

#define INSTANTIATE(S) \
  template ReducedClaimsOf<S> reduce_claims(VerifierContext<S>&, const Shape&, std::span<const ReductionInputOf<S>>);
TESSERA_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace tessera
