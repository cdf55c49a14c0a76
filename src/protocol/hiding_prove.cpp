#include "opening/vector_masks.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"
#include "protocol/hiding.hpp"
#include "subprotocols/pad_products.hpp"
#include "words/salted_leaves.hpp"

namespace tessera {

void prove_hidden_layers(ProverTranscript& transcript, const ModelPlan& plan, const Statement& statement,
                         const Witness& witness, const HidingWitness& random, const Digest& root, Communicator& comm) {
  transcript.send("witness", root);
  const Exceptions exceptions = send_exceptions(transcript, plan, witness.exceptions);
  transcript.begin_pads(random.pads());
  ClaimLedger ledger(plan.pass);
  const LookupValues lookup(plan, prove_lookup(transcript, plan.lookup, witness.columns, witness.multiplicities, comm));
  lookup.add_claims(ledger);
  ProverContext context{plan, statement, transcript, lookup, ledger, witness, comm, exceptions};
  walk(context, plan);
  prove_pad_products(context, random.left(), random.right());
  transcript.end_pads();
}

Proof prove_hidden_witness(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement,
                           const Witness& witness, CodewordStore& parameter_codeword, Communicator& comm,
                           const ProverOptions& options) {
  if (!options.hiding) {
    throw std::logic_error("hiding: no randomness for a proof under a hiding key");
  }
  const Digest& seed = options.hiding->seed;
  if (options.hiding->reserve) {
    options.hiding->reserve();
  }
  const Digest statement_digest = statement_seed(key, statement);
  ProverTranscript transcript(statement_digest);
  transcript.set_listener(options.listener);
  const HidingWitness random(*plan.hiding, plan.witness_oracle, seed, comm);
  const KeyedStream stream(seed, "vector masks");
  const VectorMasks vector_masks(stream);
  std::vector<IntegerTensor> tensors = witness.tensors;
  std::ranges::copy(random.tensors(), std::back_inserter(tensors));
  std::unique_ptr<CodewordStore> codeword;
  {
    const auto scope = transcript.scope("commitment");
    codeword =
        commit_oracle(plan.witness_layout, plan.witness_oracle, tensors, comm, options.codeword_budget,
                      std::make_shared<SaltedLeaves>(std::make_shared<KeyedStream>(seed, "salt"), salt_elements));
  }
  prove_hidden_layers(transcript, plan, statement, witness, random, codeword->root(), comm);
  // the claims as the verifier sees them: it says what hidden values are made of
  VerifierTranscript verifier(statement_digest, transcript.payload());
  const HiddenProof hidden = verify_hidden_layers(plan, statement, verifier);
  std::vector<IntegerTensor> parameters = witness.parameters;
  parameters.push_back(options.hiding->parameter_columns());
  const std::vector<OracleWitness> witnesses{{std::move(parameters), &parameter_codeword}, {tensors, codeword.get()}};
  const auto bound = [&] {
    for (const auto& tell : {options.hiding->release, options.parameters_bound}) {
      if (tell) {
        tell();
      }
    }
  };
  prove_hiding_opening(transcript, hiding_oracles(plan, key, codeword->root()), witnesses, hidden.ledger.lists(),
                       hidden.claims, {random.row_masks(), &vector_masks, bound}, comm);
  return {transcript.payload(), {}, transcript.messages(), {}, {}, {}};
}

}  // namespace tessera
