#include <numeric>

#include "base/errors.hpp"
#include "words/compact_codeword.hpp"
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

  /// What a proof begins with.
  [[nodiscard]] ProofClaims roots(const Plan& plan) const {
    return {witness->root(), kept ? kept->root() : Digest{}, ClaimLedger(plan.pass)};
  }
  /// What the opening reads, in the order of committed_oracles().
  [[nodiscard]] std::vector<OracleWitness> opened(OracleWitness parameters, const Witness& values) const {
    std::vector<OracleWitness> witnesses{std::move(parameters), {values.tensors, witness.get()}};
    if (past) {
      witnesses.push_back({views(values.past), past.get()});
    }
    if (kept) {
      witnesses.push_back({views(values.kept), kept.get()});
    }
    return witnesses;
  }
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
std::optional<Finished> replay(const ModelPlan& plan, const Digest& seed, const Statement& statement,
                               const ProofClaims& roots, const ProofCheckpoint& checkpoint) {
  const bool layers = !checkpoint.layers.empty();
  const std::vector<std::uint8_t>& payload = layers ? checkpoint.layers : checkpoint.lookups;
  if (payload.empty()) {
    return std::nullopt;
  }
  try {
    ReplayTranscript transcript(seed, payload);
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
                      const CommittedParameters& parameters, Communicator& comm, const ProverOptions& options) {
  const double bits = soundness_report(plan, key).round_by_round_bits();
  if (bits < required_soundness_bits) {
    throw InputError("soundness: expected at least " + std::to_string(required_soundness_bits) +
                     " bits in every round, found " + std::to_string(bits) + " for this shape");
  }
  if (options.listener.begins) {
    options.listener.begins("/witness");
  }
  const auto start = std::chrono::steady_clock::now();
  const std::unique_ptr<Witness> witness = make_witness(plan, statement, trace, parameters.tensors, comm);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (options.listener.ends) {
    options.listener.ends("/witness");
  }
  Proof proof = plan.hiding ? prove_hidden_witness(plan, key, statement, *witness, parameters.codeword, comm, options)
                            : prove_witness(plan, key, statement, *witness, parameters.codeword, comm, options);
  proof.state = std::move(witness->kept);
  proof.timings["/witness"] = elapsed.count();
  return proof;
}

namespace {

/// The messages of a proof that follow its commitment, behind those of an earlier run, and who is told of phases that
/// end.
class Messages {
 public:
  Messages(const ModelPlan& plan, const Digest& seed, const Statement& statement, const ProverOptions& options,
           const ProofClaims& roots)
      : before_(replay(plan, seed, statement, roots, options.resume)),
        // what follows depends on messages before it through the transcript's state alone
        transcript_(before_ ? before_->state : seed),
        options_(options),
        checkpoint_(options.resume) {
    transcript_.set_listener(options.listener);
  }
  [[nodiscard]] ProverTranscript& transcript() { return transcript_; }
  [[nodiscard]] std::vector<std::uint8_t> payload() const {
    std::vector<std::uint8_t> all = before_->payload;
    all.insert(all.end(), transcript_.payload().begin(), transcript_.payload().end());
    return all;
  }

  /// Tells that the oracles are committed to.
  void commit(const Plan& plan, const Codewords& codewords) {
    if (options_.finished) {
      checkpoint_.witness_nodes = compact_tree(*codewords.witness, plan.witness_layout, plan.witness_oracle);
      if (codewords.kept) {
        checkpoint_.kept_nodes = compact_tree(*codewords.kept, plan.state_layout, plan.state_oracle);
      }
      options_.finished(ProofPhase::commitment, checkpoint_);
    }
  }

  /// Roots and look-ups, unless an earlier run has sent them; what messages so far come to.
  Finished& look_up(const ModelPlan& plan, const Witness& witness, const ProofClaims& roots, Communicator& comm) {
    if (!before_) {
      transcript_.send("witness", roots.witness_root);
      if (plan.pass.keeps) {
        transcript_.send("state", roots.kept_root);
      }
      Exceptions exceptions = send_exceptions(transcript_, plan, witness.exceptions);
      send_candidates(transcript_, plan, witness.candidates);
      before_ = Finished{{},
                         {},
                         roots,
                         prove_lookup(transcript_, plan.lookup, witness.columns, witness.multiplicities, comm),
                         std::move(exceptions)};
      tell(ProofPhase::lookups, checkpoint_.lookups);
    }
    return *before_;
  }

  /// Layers, unless an earlier run has sent them; the claims that are left.
  ProofClaims prove_layers(const ModelPlan& plan, const Statement& statement, const Witness& witness,
                           const ProofClaims& roots, Communicator& comm) {
    Finished& before = look_up(plan, witness, roots, comm);
    ProofClaims claims = std::move(before.claims);
    if (before.lookup) {
      const LookupValues lookup(plan, std::move(*before.lookup));
      lookup.add_claims(claims.ledger);
      ProverContext context{plan, statement,         transcript_,       lookup, claims.ledger, witness,
                            comm, before.exceptions, witness.candidates};
      walk(context, plan);
      tell(ProofPhase::layers, checkpoint_.layers);
    }
    return claims;
  }

 private:
  void tell(ProofPhase phase, std::vector<std::uint8_t>& messages) {
    if (options_.finished) {
      messages = payload();
      options_.finished(phase, checkpoint_);
    }
  }

  std::optional<Finished> before_;
  ProverTranscript transcript_;
  const ProverOptions& options_;
  ProofCheckpoint checkpoint_;
};

}  // namespace

Proof prove_witness(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement, const Witness& witness,
                    CodewordStore& parameter_codeword, Communicator& comm, const ProverOptions& options) {
  const Digest seed = statement_seed(key, statement);
  ProverTranscript beginning(seed);
  beginning.set_listener(options.listener);
  const Codewords codewords = [&] {
    const auto scope = beginning.scope("commitment");
    return commit(plan, statement, witness, comm, options);
  }();
  const ProofClaims roots = codewords.roots(plan);
  Messages messages(plan, seed, statement, options, roots);
  messages.commit(plan, codewords);
  ProofClaims claims = messages.prove_layers(plan, statement, witness, roots, comm);
  ProverTranscript& transcript = messages.transcript();
  prove_opening(transcript, committed_oracles(plan, key, statement, claims),
                codewords.opened({witness.parameters, &parameter_codeword, options.parameters_bound}, witness),
                claims.ledger.lists(), comm);
  Proof proof{messages.payload(), beginning.timings(), transcript.messages(), {}, {}, {}};
  proof.timings.insert(transcript.timings().begin(), transcript.timings().end());
  if (codewords.kept) {
    proof.kept = kept_state(plan, statement, claims.kept_root);
    proof.state_nodes = compact_tree(*codewords.kept, plan.state_layout, plan.state_oracle);
  }
  return proof;
}

}  // namespace tessera
