#include "base/errors.hpp"
#include "base/little_endian.hpp"
#include "protocol/protocol.hpp"

#include <cstring>

namespace tessera {

template <class S>
ProofClaimsOf<S> verify_layers(const Gpt2Plan& plan, const Statement& statement, VerifierView<S>& transcript) {
  ProofClaimsOf<S> claims{transcript.receive_digest("witness"), {}};
  const LookupValuesOf<S> lookup(plan, verify_lookup(transcript, plan.lookup));
  lookup.add_claims(claims.ledger);
  VerifierContext<S> context{plan, statement, transcript, lookup, claims.ledger};
  walk(context, plan);
  return claims;
}

template <class S>
ProofClaimsOf<S> verify_all(const Gpt2Plan& plan, const VerifyingKey& key, const Statement& statement,
                            VerifierView<S>& transcript) {
  ProofClaimsOf<S> claims = verify_layers(plan, statement, transcript);
  const std::array oracles{CommittedOracle{plan.parameter_layout, key.parameter_oracle, key.parameter_root},
                           CommittedOracle{plan.witness_layout, plan.witness_oracle, claims.witness_root}};
  verify_opening(transcript, oracles, claims.ledger.lists());
  return claims;
}

template ProofClaims verify_layers(const Gpt2Plan&, const Statement&, VerifierView<E>&);
template ProofClaims verify_all(const Gpt2Plan&, const VerifyingKey&, const Statement&, VerifierView<E>&);

StatementAccount account_of(const Gpt2Plan& plan, const VerifyingKey& key, PositionSource positions) {
  const std::vector<std::uint32_t> generated(plan.generated);
  const Statement shape{std::vector<std::uint32_t>(plan.prompt_length), generated};  // ids change no message's length
  AccountingTranscript transcript(std::move(positions));
  ClaimLedgerOf<Nothing> ledger = verify_all(plan, key, shape, transcript).ledger;
  return {transcript.account(), std::move(ledger)};
}

SoundnessReport soundness_report(const Gpt2Plan& plan, const VerifyingKey& key) {
  return account_of(plan, key).account.soundness();
}

Digest statement_seed(const VerifyingKey& key, const Statement& statement) {
  std::vector<std::uint8_t> message;
  for (const char c : std::string_view("tessera")) {
    message.push_back(static_cast<std::uint8_t>(c));
  }
  append_little_endian(message, format_version);
  const Digest key_digest = key.digest();
  message.insert(message.end(), key_digest.begin(), key_digest.end());
  for (const auto* ids : {&statement.prompt, &statement.generated}) {
    append_little_endian<std::uint64_t>(message, ids->size());
    for (const std::uint32_t id : *ids) {
      append_little_endian(message, id);
    }
  }
  return blake2s(message);
}

Verdict verify_inference(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload) {
  try {
    return verify_inference(Gpt2Plan::of(key, statement), key, statement, payload);
  } catch (const InputError& error) {
    return {false, "/statement", error.what(), {}};
  } catch (const std::exception& error) {
    return {false, "/internal", error.what(), {}};
  }
}

Verdict verify_inference(const Gpt2Plan& plan, const VerifyingKey& key, const Statement& statement,
                         std::span<const std::uint8_t> payload) {
  Verdict verdict;
  if (soundness_report(plan, key).round_by_round_bits() < required_soundness_bits) {
    verdict.scope = "/soundness";
    verdict.reason = "this shape has less than the required soundness";
    return verdict;
  }
  VerifierTranscript transcript(statement_seed(key, statement), payload);
  try {
    verify_all(plan, key, statement, transcript);
    transcript.finish();
    verdict.accepted = true;
  } catch (const Rejected& rejected) {
    verdict.scope = rejected.scope();
    verdict.reason = rejected.what();
  } catch (const std::exception& error) {
    verdict.scope = "/internal";  // nothing but a verdict may come out, whatever the payload is
    verdict.reason = error.what();
  }
  verdict.timings = transcript.timings();
  return verdict;
}

}  // namespace tessera
