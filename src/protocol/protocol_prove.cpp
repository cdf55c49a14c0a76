#include <numeric>

#include "base/errors.hpp"
#include "commitment/compact_codeword.hpp"
#include "protocol/protocol.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

namespace tessera {
namespace {

std::vector<IntegerTensor> views(const std::vector<ChunkedTensor<std::int16_t>>& state) {
  return {&state[state_keys], &state[state_values]};
}

/// What a state keeps of its tree.
std::vector<Digest> compact_tree(CodewordStore& codeword, const Plan& plan) {
  std::vector<std::size_t> indices(compact_nodes(plan.state_layout, plan.state_oracle));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return codeword.nodes(1, indices);
}

}  // namespace

Proof prove_inference(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement, const Trace& trace,
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
  proof.state = std::move(witness->kept);
  proof.timings["/witness"] = elapsed.count();
  return proof;
}

Proof prove_witness(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement, const Witness& witness,
                    CodewordStore& parameter_codeword, Communicator& comm, const ProverOptions& options) {
  ProverTranscript transcript(statement_seed(key, statement));
  transcript.set_listener(options.listener);
  const auto commit = [&](const OracleLayout& layout, const OracleParameters& parameters,
                          const std::vector<IntegerTensor>& tensors) {
    return commit_oracle(layout, parameters, tensors, comm, options.codeword_budget);
  };
  std::unique_ptr<CodewordStore> witness_codeword, past_codeword, kept_codeword;
  {
    const auto scope = transcript.scope("commitment");
    witness_codeword = commit(plan.witness_layout, plan.witness_oracle, witness.tensors);
    if (!witness.past.empty()) {
      past_codeword = options.past_nodes.empty()
                          ? commit(plan.state_layout, plan.state_oracle, views(witness.past))
                          : std::make_unique<CompactCodewordStore>(
                                plan.state_layout, plan.state_oracle, views(witness.past),
                                TreeLevel(options.past_nodes.begin(), options.past_nodes.end()), comm);
      if (past_codeword->root() != statement.start->root) {
        throw InputError("state: expected keys and values under the root that the statement starts from, found others");
      }
    }
    if (!witness.kept.empty()) {
      kept_codeword = commit(plan.state_layout, plan.state_oracle, views(witness.kept));
    }
  }
  ProofClaims claims{witness_codeword->root(), {}, ClaimLedger(plan.pass)};
  transcript.send("witness", claims.witness_root);
  if (kept_codeword) {
    claims.kept_root = kept_codeword->root();
    transcript.send("state", claims.kept_root);
  }
  const LookupValues lookup(plan, prove_lookup(transcript, plan.lookup, witness.columns, witness.multiplicities, comm));
  lookup.add_claims(claims.ledger);
  ProverContext context{plan, statement, transcript, lookup, claims.ledger, witness, comm};
  walk(context, plan);

  std::vector<OracleWitness> witnesses{{witness.parameters, &parameter_codeword},
                                       {witness.tensors, witness_codeword.get()}};
  if (past_codeword) {
    witnesses.push_back({views(witness.past), past_codeword.get()});
  }
  if (kept_codeword) {
    witnesses.push_back({views(witness.kept), kept_codeword.get()});
  }
  prove_opening(transcript, committed_oracles(plan, key, statement, claims), witnesses, claims.ledger.lists(), comm);
  Proof proof{transcript.payload(), transcript.timings(), transcript.messages(), {}, {}, {}};
  if (kept_codeword) {
    proof.kept = kept_state(plan, statement, claims.kept_root);
    proof.state_nodes = compact_tree(*kept_codeword, plan);
  }
  return proof;
}

}  // namespace tessera
