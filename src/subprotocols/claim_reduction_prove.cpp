#include "subprotocols/claim_reduction.hpp"
#include "plan/prover_context.hpp"

namespace tessera {

ReducedClaims prove_claim_reduction(ProverContext& context, const Shape& shape, std::span<const IntegerTensor> tensors,
                                    std::span<const ReductionInput> inputs) {
  const auto scope = context.transcript.scope("reduce");
  const E gamma = context.transcript.challenge("gamma");
  std::vector<ChunkedFactor> factors;
  for (const IntegerTensor& tensor : tensors) {
    factors.push_back(TensorFactor{tensor});
  }
  E power = E::one();
  for (const ReductionInput& input : inputs) {
    std::vector<ScaledWeight> terms;
    for (const WeightedClaim& claim : input.claims) {
      terms.push_back({claim.weight, power});
      power *= gamma;
    }
    factors.push_back(WeightFactor(shape, terms));
  }
  const Ownership ownership = std::visit([](const auto* tensor) { return tensor->ownership(); }, tensors.front());
  const ProvenSumcheck sumcheck = prove_chunked_sumcheck(
      context.transcript, round_kernel(ReductionRelation{tensors.size()}), shape, ownership, factors, {}, context.comm);
  context.transcript.send("values", std::span(sumcheck.factors).first(tensors.size()));
  return {to_tensor_point(shape, sumcheck.point), {}};
}

}  // namespace tessera
