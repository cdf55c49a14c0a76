#include "plan/prover_context.hpp"
#include "subprotocols/pad_products.hpp"
#include "sumcheck/dense.hpp"

namespace tessera {

void prove_pad_products(ProverContext& context, const std::vector<E>& left, const std::vector<E>& right) {
  ProverTranscript& transcript = context.transcript;
  const auto scope = transcript.scope("pads");
  const HidingPlan& hiding = *context.plan.hiding;
  Point tau;
  for (unsigned i = 0; i < hiding.log_products; ++i) {
    tau.push_back(transcript.challenge("tau"));
  }
  std::vector<E> products(left.size());
  for (std::size_t k = 0; k < left.size(); ++k) {
    products[k] = left[k] * right[k];
  }
  const ProvenSumcheck proven =
      prove_dense_sumcheck(transcript, round_kernel(PadProductRelation{}), {left, right, products}, tau);
  transcript.send_public("factors", std::span(proven.factors).first(2));
  transcript.send("product", proven.factors[2]);
  const std::vector<Factor> weight = cell_weight(proven.point);
  context.ledger.add(witness_oracle, hiding.tensor(HidingPlan::left), weight, proven.factors[0]);
  context.ledger.add(witness_oracle, hiding.tensor(HidingPlan::right), weight, proven.factors[1]);
  context.ledger.add(witness_oracle, hiding.tensor(HidingPlan::product), weight, proven.factors[2]);
}

}  // namespace tessera
