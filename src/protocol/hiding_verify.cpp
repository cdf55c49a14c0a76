#include "protocol/hiding.hpp"
#include "subprotocols/pad_products.hpp"

namespace tessera {

template <class S>
HiddenProofOf<S> verify_hidden_layers(const ModelPlan& plan, const Statement& statement, VerifierView<S>& transcript) {
  using Scalar = Affine<S>;
  const HidingPlan& hiding = *plan.hiding;
  HiddenProofOf<S> proof{transcript.receive_digest("witness"), ClaimLedgerOf<Scalar>(plan.pass), {}};
  VerifierView<Scalar> hidden(transcript, &hiding.pads);
  const LookupValuesOf<Scalar> lookup(plan, verify_lookup(hidden, plan.lookup));
  lookup.add_claims(proof.ledger);
  VerifierContext<Scalar> context{plan, statement, hidden, lookup, proof.ledger};
  walk(context, plan);
  verify_pad_products(context);
  using Tensor = HidingPlan::Tensor;
  proof.claims = {hidden.constraints(),
                  {hiding.tensor(Tensor::pad), hiding.tensor(Tensor::left), hiding.tensor(Tensor::right),
                   hiding.tensor(Tensor::product)},
                  hiding.tensor(Tensor::mask)};
  return proof;
}

template HiddenProofOf<E> verify_hidden_layers(const ModelPlan&, const Statement&, VerifierView<E>&);
template HiddenProofOf<Nothing> verify_hidden_layers(const ModelPlan&, const Statement&, VerifierView<Nothing>&);

std::vector<CommittedOracle> hiding_oracles(const Plan& plan, const VerifyingKey& key, const Digest& witness_root) {
  return {{plan.parameter_layout, key.parameter_oracle, key.parameter_root, salt_elements},
          {plan.witness_layout, plan.witness_oracle, witness_root, mask_elements + salt_elements}};
}

}  // namespace tessera
