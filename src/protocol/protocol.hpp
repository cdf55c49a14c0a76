#pragma once

#include <map>

#include "commitment/opening.hpp"
#include "cluster/communicator.hpp"
#include "plan/context.hpp"
#include "plan/plan.hpp"

namespace tessera {

struct ParameterTensors;
struct Witness;

/// What the verifier found out. `accepted` is the verdict; otherwise scope and reason say where the proof fails.
struct Verdict {
  bool accepted = false;
  std::string scope;
  std::string reason;
  std::map<std::string, double> timings;  // seconds by scope
};

/// The Fiat-Shamir seed: H("tessera" || format version || key digest || prompt and generated ids with their lengths).
Digest statement_seed(const VerifyingKey& key, const Statement& statement);

/// What a proof comes down to: claims on the parameters and on what the prover committed to.
struct ProofClaims {
  Digest witness_root{};
  ClaimLedger ledger;
};

/// Everything but the opening: the statement holds if all returned claims do. Throws Rejected.
ProofClaims verify_layers(const Plan& plan, const Statement& statement, VerifierTranscript& transcript);

/// Checks that the payload proves the statement under the key: rejects a statement that the key's model cannot have,
/// and shapes with less than required_soundness_bits. Never throws for anything that a prover supplies. Serial.
Verdict verify_inference(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload);

/// The same with a plan at hand (normally Plan::of(key, statement)).
Verdict verify_inference(const Plan& plan, const VerifyingKey& key, const Statement& statement,
                         std::span<const std::uint8_t> payload);

/// Soundness of every round for this shape: sum-checks, look-ups, batching, opening.
SoundnessReport soundness_report(const Plan& plan, const VerifyingKey& key);

/// A proof and what it cost.
struct Proof {
  std::vector<std::uint8_t> payload;
  std::map<std::string, double> timings;  // seconds by scope
  std::vector<Message> messages;          // where each message lies in the payload
};

/// What a proving job may use and tell.
struct ProverOptions {
  Transcript::Listener listener = {};  // told every scope
  std::size_t codeword_budget = default_codeword_budget;
};

/// Proves the statement from this rank's part of trace and parameters. Collective; every rank returns the same payload.
/// Does not check that the trace is right: a wrong one gives a payload that is rejected. Throws InputError if the
/// shape's soundness is below required_soundness_bits.
Proof prove_inference(const VerifyingKey& key, const Statement& statement, const Trace& trace,
                      const ParameterTensors& parameters, CodewordStore& parameter_codeword, Communicator& comm,
                      const ProverOptions& options = {});

/// Commits to a witness and proves it: the second half of prove_inference.
Proof prove_witness(const Plan& plan, const VerifyingKey& key, const Statement& statement, const Witness& witness,
                    CodewordStore& parameter_codeword, Communicator& comm, const ProverOptions& options = {});

}  // namespace tessera
