#include "base/errors.hpp"
#include "layers/attention/attention.hpp"
#include "layers/embedding/embedding.hpp"
#include "layers/layer_norm/layer_norm.hpp"
#include "layers/logits/logits.hpp"
#include "layers/mlp/mlp.hpp"
#include "layers/qkv/qkv.hpp"
#include "protocol/protocol.hpp"
#include "plan/witness.hpp"

namespace tessera {

Proof prove_inference(const VerifyingKey& key, const Statement& statement, const Trace& trace,
                      const ParameterTensors& parameters, CodewordStore& parameter_codeword, Communicator& comm,
                      const ProverOptions& options) {
  const Plan plan = Plan::of(key, statement);
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
  const Witness witness(plan, statement, trace, parameters, comm);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (options.listener.ends) {
    options.listener.ends("/witness");
  }
  Proof proof = prove_witness(plan, key, statement, witness, parameter_codeword, comm, options);
  proof.timings["/witness"] = elapsed.count();
  return proof;
}

Proof prove_witness(const Plan& plan, const VerifyingKey& key, const Statement& statement, const Witness& witness,
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

  {
    const auto scope = transcript.scope("final");
    prove_layer_norm(context, {&plan.lnf, plan.x_end, gammaf, betaf}, witness.uf, prove_logits(context));
  }
  {
    const auto scope = transcript.scope("feed_forward");
    prove_layer_norm(context, {&plan.ln2, plan.x_mid, gamma2, beta2}, witness.u2, {prove_mlp(context)});
  }
  {
    const auto scope = transcript.scope("self_attention");
    const WeightedClaim y = prove_output_projection(context);
    const AttentionClaims qkv = prove_attention(context, {y});
    prove_layer_norm(context, {&plan.ln1, plan.x_in, gamma1, beta1}, witness.u1, {prove_qkv(context, qkv)});
  }
  prove_embedding(context);

  const std::array oracles{CommittedOracle{plan.parameter_layout, key.parameter_oracle, key.parameter_root},
                           CommittedOracle{plan.witness_layout, plan.witness_oracle, witness_codeword->root()}};
  const std::array witnesses{OracleWitness{witness.parameters, &parameter_codeword},
                             OracleWitness{witness.tensors, witness_codeword.get()}};
  const std::array claims{std::move(ledger.parameters), std::move(ledger.witness)};
  prove_opening(transcript, oracles, witnesses, claims, comm);
  return {transcript.payload(), transcript.timings(), transcript.messages()};
}

}  // namespace tessera
