#include "base/errors.hpp"
#include "protocol/protocol.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

namespace tessera {

Proof prove_inference(const Gpt2Plan& plan, const VerifyingKey& key, const Statement& statement, const Trace& trace,
                      const ParameterTensors& parameters, CodewordStore& parameter_codeword, Communicator& comm,
                      const ProverOptions& options) {
  const double bits = soundness_report(plan, key).round_by_round_bits();
  if (bits < required_soundness_bits) {
    throw InputError("soundness: expected at least " + std::to_string(required_soundness_bits) +
                     " bits in every round, found " + std::to_string(bits) + " for this shape");
  }
  if (plan.lookup.present_leaves() > max_present_leaves) {
    throw InputError("length: expected at most " + std::to_string(max_present_leaves) + " look-ups, found " +
                     std::to_string(plan.lookup.present_leaves()) + ": prove fewer tokens at a time");
  }
  if (options.listener.begins) {
    options.listener.begins("/witness");
  }
  const auto start = std::chrono::steady_clock::now();
  const std::unique_ptr<Witness> witness = make_witness(plan, statement, trace, parameters, comm);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (options.listener.ends) {
    options.listener.ends("/witness");
  }
  Proof proof = prove_witness(plan, key, statement, *witness, parameter_codeword, comm, options);
  proof.timings["/witness"] = elapsed.count();
  return proof;
}

Proof prove_witness(const Gpt2Plan& plan, const VerifyingKey& key, const Statement& statement, const Witness& witness,
                    CodewordStore& parameter_codeword, Communicator& comm, const ProverOptions& options) {
  ProverTranscript transcript(statement_seed(key, statement));
  transcript.set_listener(options.listener);
  const std::unique_ptr<CodewordStore> witness_codeword = [&] {
    const auto scope = transcript.scope("commitment");
    return commit_oracle(plan.witness_layout, plan.witness_oracle, witness.tensors, comm, options.codeword_budget);
  }();
  transcript.send("witness", witness_codeword->root());
  const LookupValues lookup(plan, prove_lookup(transcript, plan.lookup, witness.columns, witness.multiplicities, comm));
  ClaimLedger ledger;
  lookup.add_claims(ledger);
  ProverContext context{plan, statement, transcript, lookup, ledger, witness, comm};
  walk(context, plan);

  const std::array oracles{CommittedOracle{plan.parameter_layout, key.parameter_oracle, key.parameter_root},
                           CommittedOracle{plan.witness_layout, plan.witness_oracle, witness_codeword->root()}};
  const std::array witnesses{OracleWitness{witness.parameters, &parameter_codeword},
                             OracleWitness{witness.tensors, witness_codeword.get()}};
  prove_opening(transcript, oracles, witnesses, ledger.lists(), comm);
  return {transcript.payload(), transcript.timings(), transcript.messages()};
}

}  // namespace tessera
