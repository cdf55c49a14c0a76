#pragma once

#include <map>

#include <tessera/verify.hpp>

#include "opening/opening.hpp"
#include "cluster/communicator.hpp"
#include "architecture/model_plan.hpp"
#include "protocol/checkpoint.hpp"

namespace tessera {

/// The Fiat-Shamir seed: H("tessera" || format version || key digest || prompt and generated ids with their lengths),
/// and for a statement that continues or keeps a state or has a pass length: || flags || the state that it starts from
/// || the pass length.
Digest statement_seed(const VerifyingKey& key, const Statement& statement);
/// The Fiat-Shamir seed by the digest of the key.
Digest statement_seed(const Digest& key_digest, const Statement& statement);

/// What a proof comes down to: claims on the parameters and on what the prover committed to.
struct ProofClaims {
  Digest witness_root{};
  Digest kept_root{};  // where the pass keeps a state
  ClaimLedger ledger;
  ExceptionCounts exceptions = {};  // by list
};

/// Everything but the opening: the statement holds if all returned claims do. Throws Rejected. `assumed`: lengths of
/// the lists of exceptions, for an account; nothing: a proof says it.
ProofClaims verify_layers(const ModelPlan& plan, const Statement& statement, VerifierView<E>& transcript,
                          const ExceptionCounts* assumed = nullptr);

/// The whole proof: layers, then the opening of all their claims, which are returned. Throws Rejected.
ProofClaims verify_all(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement,
                       VerifierView<E>& transcript, const ExceptionCounts* assumed = nullptr);

/// Checks that the payload proves the statement under the key, whatever state it starts from: rejects a statement that
/// the key's model cannot have, and shapes with less than required_soundness_bits. Never throws for anything that a
/// prover supplies. Serial.
Verdict verify_inference(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload);

/// verify_inference() with a plan at hand (normally ModelPlan::of(key, statement)).
Verdict verify_inference(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement,
                         std::span<const std::uint8_t> payload);

/// Checks a payload of a statement that was checked before, by its plan and seed, as verify_inference() does in the
/// end; for many payloads of one statement.
Verdict verify_payload(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement, const Digest& seed,
                       std::span<const std::uint8_t> payload);

/// Checks, as verify_inference() does, a proof that begins a conversation; a continuation is rejected.
Verdict verify_beginning(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload);

/// Checks, as verify_inference() does, a later part of a conversation, which must start where the part before it has
/// ended: `before` is that one's Verdict::kept. Rejects a beginning, and whatever follows a part that keeps nothing.
Verdict verify_continuation(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload,
                            const std::optional<ConversationState>& before);

/// What verify_all does for every statement of this shape, and the claims that it opens. `positions`: a proof's, for
/// the exact lengths of its columns and siblings; without, no proof is longer. `exceptions`: a proof's, by list;
/// without, there are none.
struct StatementAccount {
  Account account;
  ClaimLedger ledger;
};
StatementAccount account_of(const ModelPlan& plan, const VerifyingKey& key, PositionSource positions = spread_positions,
                            const ExceptionCounts& exceptions = {});

/// The oracles that the claims are on, in the opening's order.
std::vector<CommittedOracle> committed_oracles(const Plan& plan, const VerifyingKey& key, const Statement& statement,
                                               const ProofClaims& claims);

/// Where the next part begins, after one that keeps a state.
ConversationState kept_state(const Plan& plan, const Statement& statement, const Digest& root);

/// Soundness of every round for this shape, with as many exceptions as the key allows.
SoundnessReport soundness_report(const ModelPlan& plan, const VerifyingKey& key);

/// A proof and what it cost.
struct Proof {
  std::vector<std::uint8_t> payload;
  std::map<std::string, double> timings;           // seconds by scope
  std::vector<Message> messages;                   // where each lies in the payload behind what was resumed
  std::optional<ConversationState> kept;           // where the next part begins
  std::vector<ChunkedTensor<std::int16_t>> state;  // what it needs, by StateTensor: this rank's share
  std::vector<Digest> state_nodes;                 // of its tree: what a CompactCodewordStore keeps
};

/// What a proof under a hiding key needs.
struct HidingOptions {
  std::function<IntegerTensor()> parameter_columns;  // random_columns() of the parameters: made for the opening
  Digest seed{};                                     // of this proof's random elements: never used for another one
  std::function<void()> reserve = {};  // takes one of the commitment's uses, before anything is made public
  std::function<void()> release = {};  // the columns are not needed any more
};

/// What a proving job may use and tell.
struct ProverOptions {
  Transcript::Listener listener = {};  // told every scope
  std::size_t codeword_budget = default_codeword_budget;
  std::vector<Digest> past_nodes = {};  // likewise of the past state's tree: it is not encoded again
  std::optional<HidingOptions> hiding = {};
  ProofCheckpoint resume = {};  // of an earlier run of this job: phases that are finished are not done again
  PhaseListener finished = {};  // told after commitment, look-ups, layers
  std::function<void()> parameters_bound = {};  // parameters are read by their codeword alone from then on
};

/// Parameters that are committed to: this rank's share of them, and their codeword.
struct CommittedParameters {
  const ParameterTensors& tensors;
  CodewordStore& codeword;
};

/// Proves the statement from this rank's share of trace and parameters. Collective; every rank returns the same
/// payload. Does not check that the trace is right: a wrong one gives a payload that is rejected. Throws InputError if
/// the shape's soundness is below required_soundness_bits.
Proof prove_inference(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement, const Trace& trace,
                      const CommittedParameters& parameters, Communicator& comm, const ProverOptions& options = {});

/// Commits to a witness and proves it: the second half of prove_inference.
/// Throws InputError if the past state is not the statement's.
Proof prove_witness(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement, const Witness& witness,
                    CodewordStore& parameter_codeword, Communicator& comm, const ProverOptions& options = {});

}  // namespace tessera
