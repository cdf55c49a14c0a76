#include "base/errors.hpp"
#include "base/out_of_memory.hpp"
#include "plan/ends.hpp"
#include "protocol/hiding.hpp"
#include "protocol/identified_key.hpp"
#include "protocol/protocol.hpp"

namespace tessera {

ProofClaims verify_layers(const ModelPlan& plan, const Statement& statement, VerifierView<E>& transcript,
                          const ExceptionCounts* assumed) {
  ProofClaims claims{transcript.receive_digest("witness"), {}, ClaimLedger(plan.pass)};
  if (plan.pass.keeps) {
    claims.kept_root = transcript.receive_digest("state");
  }
  const ReceivedExceptions received = receive_exceptions(transcript, plan, assumed);
  claims.exceptions = received.counts;
  const Candidates candidates = receive_candidates(transcript, plan, plan.model.n_vocab, statement);
  const LookupValues lookup(plan, verify_lookup(transcript, plan.lookup));
  lookup.add_claims(claims.ledger);
  VerifierContext<E> context{plan, statement, transcript, lookup, claims.ledger, received.exceptions, candidates};
  walk(context, plan);
  return claims;
}

std::vector<CommittedOracle> committed_oracles(const Plan& plan, const VerifyingKey& key, const Statement& statement,
                                               const ProofClaims& claims) {
  if (plan.hiding) {
    return hiding_oracles(plan, key, claims.witness_root);
  }
  std::vector<CommittedOracle> oracles{{plan.parameter_layout, key.parameter_oracle, key.parameter_root},
                                       {plan.witness_layout, plan.witness_oracle, claims.witness_root}};
  if (statement.start) {
    oracles.push_back({plan.state_layout, plan.state_oracle, statement.start->root});
  }
  if (plan.pass.keeps) {
    oracles.push_back({plan.state_layout, plan.state_oracle, claims.kept_root});
  }
  return oracles;
}

namespace {

/// The claims with their values as they were sent.
ClaimLedger masked_values(const Plan& plan, const ClaimLedgerOf<Affine>& ledger) {
  ClaimLedger values(plan.pass);
  for (const OracleId oracle : {parameter_oracle, witness_oracle}) {
    for (const ClaimOf<Affine>& claim : ledger[oracle]) {
      values.add(oracle, claim.tensor, claim.weight, claim.value.constant);
    }
  }
  return values;
}

}  // namespace

ProofClaims verify_all(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement,
                       VerifierView<E>& transcript, const ExceptionCounts* assumed) {
  if (plan.hiding) {
    const HiddenProof proof = verify_hidden_layers(plan, statement, transcript, assumed);
    verify_hiding_opening(transcript, hiding_oracles(plan, key, proof.witness_root), proof.ledger.lists(),
                          proof.claims);
    return {proof.witness_root, {}, masked_values(plan, proof.ledger), proof.exceptions};
  }
  ProofClaims claims = verify_layers(plan, statement, transcript, assumed);
  verify_opening(transcript, committed_oracles(plan, key, statement, claims), claims.ledger.lists());
  return claims;
}

namespace {

Verdict verify_statement(const ModelPlan& plan, const VerifyingKey& key, const Digest& key_digest,
                         const Statement& statement, std::span<const std::uint8_t> payload) {
  // whoever made the plan: its lengths size the weights that the statement's ids index
  if (PassShape::of(statement) != plan.pass) {
    return {false, "/statement", "the statement's lengths are not the plan's", {}, {}};
  }
  try {
    check_statement(key, statement);
  } catch (const InputError& error) {
    return {false, "/statement", error.what(), {}, {}};
  }
  if (soundness_report(plan, key).round_by_round_bits() < required_soundness_bits) {
    return {false, "/soundness", "this shape has less than the required soundness", {}, {}};
  }
  return verify_payload(plan, key, statement, statement_seed(key_digest, statement), payload);
}

/// The verdict on any statement, whose plan is made here.
Verdict verify_whole(const VerifyingKey& key, const Digest& key_digest, const Statement& statement,
                     std::span<const std::uint8_t> payload) {
  try {
    return verify_statement(ModelPlan::of(key, statement), key, key_digest, statement, payload);
  } catch (const InputError& error) {
    return {false, "/statement", error.what(), {}, {}};
  } catch (const std::exception& error) {
    pass_on_out_of_memory(error);
    return {false, "/internal", error.what(), {}, {}};
  }
}

/// Why a part does not continue what the part before it has left; nothing if it does.
const char* discontinuity(const std::optional<ConversationState>& start,
                          const std::optional<ConversationState>& before) {
  if (!before) {
    return "the part before it keeps no state to continue";
  }
  if (!start) {
    return "it is the beginning of a conversation, not a continuation";
  }
  if (*start == *before) {  // as a whole: a root says neither how many rows are used nor which token comes next
    return nullptr;
  }
  return start->root != before->root ? "it continues another state than the part before it keeps: the roots differ"
                                     : "it starts from another length or last token than the part before it ends with";
}

Verdict verify_first(const VerifyingKey& key, const Digest& key_digest, const Statement& statement,
                     std::span<const std::uint8_t> payload) {
  if (statement.start) {
    constexpr auto alone =
        "the proof continues a conversation, and no part before it keeps a state: give all parts in order";
    return {false, "/statement", alone, {}, {}};
  }
  return verify_whole(key, key_digest, statement, payload);
}

Verdict verify_next(const VerifyingKey& key, const Digest& key_digest, const Statement& statement,
                    std::span<const std::uint8_t> payload, const std::optional<ConversationState>& before) {
  if (const char* const reason = discontinuity(statement.start, before)) {
    return {false, "/statement", reason, {}, {}};
  }
  return verify_whole(key, key_digest, statement, payload);
}

}  // namespace

Verdict verify_inference(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload) {
  return verify_whole(key, key.digest(), statement, payload);
}

Verdict verify_inference(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement,
                         std::span<const std::uint8_t> payload) {
  return verify_statement(plan, key, key.digest(), statement, payload);
}

Verdict verify_payload(const ModelPlan& plan, const VerifyingKey& key, const Statement& statement, const Digest& seed,
                       std::span<const std::uint8_t> payload) {
  Verdict verdict;
  VerifierTranscript transcript(seed, payload);
  try {
    const ProofClaims claims = verify_all(plan, key, statement, transcript);
    transcript.finish();
    verdict.accepted = true;
    verdict.ended_by = ended_by(key, statement);
    for (std::size_t list = 0; list < claims.exceptions.size(); ++list) {
      if (claims.exceptions[list] > 0) {
        verdict.clamped.push_back({plan.clamped[list].name, claims.exceptions[list]});
      }
    }
    if (plan.pass.keeps) {
      verdict.kept = kept_state(plan, statement, claims.kept_root);
    }
  } catch (const Rejected& rejected) {
    verdict.scope = rejected.scope();
    verdict.reason = rejected.what();
  } catch (const std::exception& error) {
    pass_on_out_of_memory(error);
    verdict.scope = "/internal";  // nothing but a verdict may come out, whatever the payload is
    verdict.reason = error.what();
  }
  verdict.timings = transcript.timings();
  return verdict;
}

Verdict verify_beginning(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload) {
  return verify_first(key, key.digest(), statement, payload);
}

Verdict verify_continuation(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload,
                            const std::optional<ConversationState>& before) {
  return verify_next(key, key.digest(), statement, payload, before);
}

Verdict verify_beginning(const IdentifiedKey& key, const Statement& statement, std::span<const std::uint8_t> payload) {
  return verify_first(key.key, key.digest, statement, payload);
}

Verdict verify_continuation(const IdentifiedKey& key, const Statement& statement, std::span<const std::uint8_t> payload,
                            const std::optional<ConversationState>& before) {
  return verify_next(key.key, key.digest, statement, payload, before);
}

Verdict judge(const IdentifiedKey& key, const Digest& made_for, const Statement& statement,
              std::span<const std::uint8_t> payload, const Before& before) {
  if (made_for != key.digest) {
    return {false, "/statement", made_for_another_key, {}, {}};
  }
  return before.part ? verify_continuation(key, statement, payload, before.kept)
                     : verify_beginning(key, statement, payload);
}

}  // namespace tessera
