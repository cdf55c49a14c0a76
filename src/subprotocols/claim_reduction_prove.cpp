#include "subprotocols/claim_reduction.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

namespace tessera {

ReducedClaims reduce_claims(ProverContext& context, const Shape& shape, std::span<const ReductionInput> inputs) {
  const auto scope = context.transcript.scope("reduce");
  std::size_t count = 0;
  for (const ReductionInput& input : inputs) {
    count += input.claims.size();
  }
  const E gamma = count > 1 ? context.transcript.challenge("gamma") : E::one();
  std::vector<ChunkedFactor> factors;
  for (const ReductionInput& input : inputs) {
    factors.push_back(TensorFactor{context.witness.view(input.tensor)});
  }
  E power = E::one();
  for (const ReductionInput& input : inputs) {
    std::vector<ScaledWeight> terms;
    for (const WeightedClaim& claim : input.claims) {
      terms.push_back({claim.weight, power, claim.places, claim.beginnings});
      power *= gamma;
    }
    factors.push_back(WeightFactor(shape, terms));
  }
  const Ownership ownership = ownership_of(context.witness.view(inputs.front().tensor));
  const ProvenSumcheck sumcheck = prove_chunked_sumcheck(
      context.transcript, round_kernel(ReductionRelation{inputs.size()}), shape, ownership, factors, {}, context.comm);
  const auto values = std::span(sumcheck.factors).first(inputs.size());
  context.transcript.send("values", values);
  return {to_tensor_point(shape, sumcheck.point), {values.begin(), values.end()}};
}

}  // namespace tessera
