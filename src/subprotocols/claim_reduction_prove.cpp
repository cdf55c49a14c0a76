#include "subprotocols/claim_reduction.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

namespace tessera {

ReducedClaims prove_claim_reduction(ProverContext& context, const Shape& shape, std::span<const IntegerTensor> tensors,
                                    std::span<const ReductionInput> inputs) {
  const auto scope = context.transcript.scope("reduce");
  std::size_t count = 0;
  for (const ReductionInput& input : inputs) {
    count += input.claims.size();
  }
  const E gamma = count > 1 ? context.transcript.challenge("gamma") : E::one();
  std::vector<ChunkedFactor> factors;
  for (const IntegerTensor& tensor : tensors) {
    factors.push_back(TensorFactor{tensor});
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
  const Ownership ownership = std::visit([](const auto* tensor) { return tensor->ownership(); }, tensors.front());
  const ProvenSumcheck sumcheck = prove_chunked_sumcheck(
      context.transcript, round_kernel(ReductionRelation{tensors.size()}), shape, ownership, factors, {}, context.comm);
  const auto values = std::span(sumcheck.factors).first(tensors.size());
  context.transcript.send("values", values);
  return {to_tensor_point(shape, sumcheck.point), {values.begin(), values.end()}};
}

void prove_limits(ProverContext& context, ClampId list, TensorId tensor) {
  if (!context.exceptions.checked(list)) {
    return;
  }
  const ClampedTensor& clamped = context.plan.clamped[list.list];
  const auto scope = context.transcript.scope(clamped.name);
  ReductionInput input;
  add_limit_claim(context.exceptions, list, input.claims);
  const ReducedClaims reduced = prove_claim_reduction(
      context, clamped.shape, std::span(&context.witness.tensors[tensor], 1), std::span(&input, 1));
  context.ledger.add(witness_oracle, tensor, weight_at(reduced.point), reduced.values.front());
}

}  // namespace tessera
