#include "protocol/hiding.hpp"
#include "subprotocols/pad_products.hpp"

namespace tessera {

HiddenProof verify_hidden_layers(const ModelPlan& plan, const Statement& statement, VerifierView<E>& transcript,
                                 const ExceptionCounts* assumed) {
  const HidingPlan& hiding = *plan.hiding;
  HiddenProof proof{transcript.receive_digest("witness"), ClaimLedgerOf<Affine>(plan.pass), {}};
  const ReceivedExceptions received = receive_exceptions(transcript, plan, assumed);
  proof.exceptions = received.counts;
  VerifierView<Affine> hidden(transcript, &hiding.pads);
  const LookupValuesOf<Affine> lookup(plan, verify_lookup(hidden, plan.lookup));
  lookup.add_claims(proof.ledger);
  VerifierContext<Affine> context{plan, statement, hidden, lookup, proof.ledger, received.exceptions};
  walk(context, plan);
  verify_pad_products(context);
  using Tensor = HidingPlan::Tensor;
  proof.claims = {hidden.constraints(),
                  {hiding.tensor(Tensor::pad), hiding.tensor(Tensor::left), hiding.tensor(Tensor::right),
                   hiding.tensor(Tensor::product)},
                  hiding.tensor(Tensor::mask)};
  return proof;
}

std::vector<CommittedOracle> hiding_oracles(const Plan& plan, const VerifyingKey& key, const Digest& witness_root) {
  return {{plan.parameter_layout, key.parameter_oracle, key.parameter_root, salt_elements},
          {plan.witness_layout, plan.witness_oracle, witness_root, salt_elements}};
}

}  // namespace tessera
