#pragma once

#include "opening/batch.hpp"
#include "plan/hiding_witness.hpp"
#include "protocol/protocol.hpp"

/// \file
/// Proofs under hiding keys (src/spec/hiding.md).

namespace tessera {

/// What a hiding proof comes down to before its opening.
struct HiddenProof {
  Digest witness_root{};
  ClaimLedgerOf<Affine> ledger;
  HidingClaims claims;
  ExceptionCounts exceptions = {};  // by list
};

/// Everything but the opening. Throws Rejected. `assumed`: see verify_layers().
HiddenProof verify_hidden_layers(const ModelPlan& plan, const Statement& statement, VerifierView<E>& transcript,
                                 const ExceptionCounts* assumed = nullptr);

/// The prover's side of verify_hidden_layers(), for a witness that is committed to under `root`; `random`: this
/// proof's. Collective.
void prove_hidden_layers(ProverTranscript& transcript, const ModelPlan& plan, const Statement& statement,
                         const Witness& witness, const HidingWitness& random, const Digest& root, Communicator& comm);

/// Parameters and witness.
std::vector<CommittedOracle> hiding_oracles(const Plan& plan, const VerifyingKey& key, const Digest& witness_root);

/// prove_witness() under a hiding key; options.hiding is there. No timings.
Proof prove_hidden_witness(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement,
                           const Witness& witness, CodewordStore& parameter_codeword, Communicator& comm,
                           const ProverOptions& options);

}  // namespace tessera
