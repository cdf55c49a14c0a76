#include <numeric>

#include "base/errors.hpp"
#include "commitment/compact_codeword.hpp"
#include "protocol/hiding.hpp"
#include "protocol/protocol.hpp"
#include "plan/prover_context.hpp"
#include "plan/witness.hpp"

namespace tessera {
namespace {

std::vector<IntegerTensor> views(const std::vector<ChunkedTensor<std::int16_t>>& state) {
  return {&state[state_keys], &state[state_values]};
}

/// What a state, or a checkpoint, keeps of a tree.
std::vector<Digest> compact_tree(CodewordStore& codeword, const OracleLayout& layout, const OracleParameters& oracle) {
  std::vector<std::size_t> indices(compact_nodes(layout, oracle));
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  return codeword.nodes(1, indices);
}

/// Codewords of what the pass commits to, and of the state that it starts from.
struct Codewords {
  std::unique_ptr<CodewordStore> witness, past, kept;
};

/// Trees that are known already are not made again.
Codewords commit(const Plan& plan, const Statement& statement, const Witness& witness, Communicator& comm,
                 const ProverOptions& options) {
  const auto make = [&](const OracleLayout& layout, const OracleParameters& oracle,
                        const std::vector<IntegerTensor>& tensors,
                        const std::vector<Digest>& nodes) -> std::unique_ptr<CodewordStore> {
    if (nodes.empty()) {
      return commit_oracle(layout, oracle, tensors, comm, options.codeword_budget);
    }
    return std::make_unique<CompactCodewordStore>(layout, oracle, tensors, TreeLevel(nodes.begin(), nodes.end()), comm);
  };
  Codewords codewords;
  codewords.witness = make(plan.witness_layout, plan.witness_oracle, witness.tensors, options.resume.witness_nodes);
  if (!witness.past.empty()) {
    codewords.past = make(plan.state_layout, plan.state_oracle, views(witness.past), options.past_nodes);
    if (codewords.past->root() != statement.start->root) {
      throw InputError("state: expected keys and values under the root that the statement starts from, found others");
    }
  }
  if (!witness.kept.empty()) {
    codewords.kept = make(plan.state_layout, plan.state_oracle, views(witness.kept), options.resume.kept_nodes);
  }
  return codewords;
}

/// What messages come to: the verifier's halves find it in those of an earlier run.
struct Finished {
  std::vector<std::uint8_t> payload;  // of the earlier run
  Digest state;                       // of the transcript behind it
  ProofClaims claims;
  std::optional<LookupClaims> lookup;  // nothing: the layers are among the claims
  Exceptions exceptions;
};

/// Tells the state behind what it has received.
struct ReplayTranscript : VerifierTranscript {
  using Transcript::state;
  using VerifierTranscript::VerifierTranscript;
};

/// Nothing if there are no such messages, or they are not those of this job.
std::optional<Finished> replay(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement,
                               const ProofClaims& roots, const ProofCheckpoint& checkpoint) {
  const bool layers = !checkpoint.layers.empty();
  const std::vector<std::uint8_t>& payload = layers ? checkpoint.layers : checkpoint.lookups;
  if (payload.empty()) {
    return std::nullopt;
  }
  try {
    ReplayTranscript transcript(statement_seed(key, statement), payload);
    VerifierTranscript& verifier = transcript;
    Finished finished{payload, {}, roots, {}, {}};
    if (layers) {
      finished.claims = verify_layers(plan, statement, verifier);
    } else {
      finished.claims.witness_root = verifier.receive_digest("witness");
      if (plan.pass.keeps) {
        finished.claims.kept_root = verifier.receive_digest("state");
      }
      finished.exceptions = receive_exceptions(verifier, plan).exceptions;
      (void)receive_candidates(verifier, plan, plan.model.n_vocab, statement);  // the witness has them
      finished.lookup = verify_lookup(verifier, plan.lookup);
    }
    verifier.finish();
    if (finished.claims.witness_root != roots.witness_root || finished.claims.kept_root != roots.kept_root) {
      return std::nullopt;
    }
    finished.state = transcript.state();
    return finished;
  } catch (const Rejected&) {
    return std::nullopt;
  }
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
  if (options.listener.begins) {
    options.listener.begins("/witness");
  }
  const auto start = std::chrono::steady_clock::now();
  const std::unique_ptr<Witness> witness = make_witness(plan, statement, trace, parameters, comm);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (options.listener.ends) {
    options.listener.ends("/witness");
  }
  Proof proof = plan.hiding ? prove_hidden_witness(plan, key, statement, *witness, parameter_codeword, comm, options)
                            : prove_witness(plan, key, statement, *witness, parameter_codeword, comm, options);
  proof.state = std::move(witness->kept);
  proof.timings["/witness"] = elapsed.count();
  return proof;
}

Proof prove_witness(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement, const Witness& witness,
                    CodewordStore& parameter_codeword, Communicator& comm, const ProverOptions& options) {
  ProverTranscript beginning(statement_seed(key, statement));
  beginning.set_listener(options.listener);
  Codewords codewords;
  {
    const auto scope = beginning.scope("commitment");
    codewords = commit(plan, statement, witness, comm, options);
  }
  ProofClaims claims{codewords.witness->root(), codewords.kept ? codewords.kept->root() : Digest{},
                     ClaimLedger(plan.pass)};
  ProofCheckpoint checkpoint = options.resume;
  if (options.finished) {
    checkpoint.witness_nodes = compact_tree(*codewords.witness, plan.witness_layout, plan.witness_oracle);
    if (codewords.kept) {
      checkpoint.kept_nodes = compact_tree(*codewords.kept, plan.state_layout, plan.state_oracle);
    }
    options.finished(ProofPhase::commitment, checkpoint);
  }
  std::optional<Finished> before = replay(plan, key, statement, claims, options.resume);
  // what follows depends on messages before it through the transcript's state alone
  ProverTranscript transcript(before ? before->state : statement_seed(key, statement));
  transcript.set_listener(options.listener);
  const auto payload = [&] {
    std::vector<std::uint8_t> all = before->payload;
    all.insert(all.end(), transcript.payload().begin(), transcript.payload().end());
    return all;
  };
  const auto finished = [&](ProofPhase phase, std::vector<std::uint8_t> ProofCheckpoint::*messages) {
    if (options.finished) {
      checkpoint.*messages = payload();
      options.finished(phase, checkpoint);
    }
  };
  if (!before) {
    transcript.send("witness", claims.witness_root);
    if (codewords.kept) {
      transcript.send("state", claims.kept_root);
    }
    Exceptions exceptions = send_exceptions(transcript, plan, witness.exceptions);
    send_candidates(transcript, plan, witness.candidates);
    before = Finished{{},
                      {},
                      claims,
                      prove_lookup(transcript, plan.lookup, witness.columns, witness.multiplicities, comm),
                      std::move(exceptions)};
    finished(ProofPhase::lookups, &ProofCheckpoint::lookups);
  }
  claims = std::move(before->claims);
  if (before->lookup) {
    const LookupValues lookup(plan, std::move(*before->lookup));
    lookup.add_claims(claims.ledger);
    ProverContext context{plan, statement,          transcript,        lookup, claims.ledger, witness,
                          comm, before->exceptions, witness.candidates};
    walk(context, plan);
    finished(ProofPhase::layers, &ProofCheckpoint::layers);
  }

  std::vector<OracleWitness> witnesses{{witness.parameters, &parameter_codeword, options.parameters_bound},
                                       {witness.tensors, codewords.witness.get()}};
  if (codewords.past) {
    witnesses.push_back({views(witness.past), codewords.past.get()});
  }
  if (codewords.kept) {
    witnesses.push_back({views(witness.kept), codewords.kept.get()});
  }
  prove_opening(transcript, committed_oracles(plan, key, statement, claims), witnesses, claims.ledger.lists(), comm);
  Proof proof{payload(), beginning.timings(), transcript.messages(), {}, {}, {}};
  proof.timings.insert(transcript.timings().begin(), transcript.timings().end());
  if (codewords.kept) {
    proof.kept = kept_state(plan, statement, claims.kept_root);
    proof.state_nodes = compact_tree(*codewords.kept, plan.state_layout, plan.state_oracle);
  }
  return proof;
}

}  // namespace tessera
