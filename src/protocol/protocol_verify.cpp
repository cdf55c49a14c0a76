#include "base/errors.hpp"
#include "layers/attention/attention.hpp"
#include "layers/embedding/embedding.hpp"
#include "layers/layer_norm/layer_norm.hpp"
#include "layers/logits/logits.hpp"
#include "layers/mlp/mlp.hpp"
#include "layers/qkv/qkv.hpp"
#include "protocol/protocol.hpp"

#include <cstring>

namespace tessera {

ProofClaims verify_layers(const Plan& plan, const Statement& statement, VerifierTranscript& transcript) {
  ProofClaims claims{transcript.receive_digest("witness"), {}};
  const LookupValues lookup(plan, verify_lookup(transcript, plan.lookup));
  lookup.add_claims(claims.ledger);
  VerifierContext context{plan, statement, transcript, lookup, claims.ledger};

  {
    const auto scope = transcript.scope("final");
    verify_layer_norm(context, {&plan.lnf, plan.x_end, gammaf, betaf}, verify_logits(context));
  }
  {
    const auto scope = transcript.scope("feed_forward");
    verify_layer_norm(context, {&plan.ln2, plan.x_mid, gamma2, beta2}, {verify_mlp(context)});
  }
  {
    const auto scope = transcript.scope("self_attention");
    const WeightedClaim y = verify_output_projection(context);
    const AttentionClaims qkv = verify_attention(context, {y});
    verify_layer_norm(context, {&plan.ln1, plan.x_in, gamma1, beta1}, {verify_qkv(context, qkv)});
  }
  verify_embedding(context);
  return claims;
}

Digest statement_seed(const VerifyingKey& key, const Statement& statement) {
  std::vector<std::uint8_t> message;
  const auto append = [&](std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) {
      message.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
  };
  for (const char c : std::string_view("tessera")) {
    message.push_back(static_cast<std::uint8_t>(c));
  }
  append(format_version, 4);
  const Digest key_digest = key.digest();
  message.insert(message.end(), key_digest.begin(), key_digest.end());
  for (const auto* ids : {&statement.prompt, &statement.generated}) {
    append(ids->size(), 8);
    for (const std::uint32_t id : *ids) {
      append(id, 4);
    }
  }
  return blake2s(message);
}

Verdict verify_inference(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload) {
  try {
    return verify_inference(Plan::of(key, statement), key, statement, payload);
  } catch (const InputError& error) {
    return {false, "/statement", error.what(), {}};
  } catch (const std::exception& error) {
    return {false, "/internal", error.what(), {}};
  }
}

Verdict verify_inference(const Plan& plan, const VerifyingKey& key, const Statement& statement,
                         std::span<const std::uint8_t> payload) {
  Verdict verdict;
  if (soundness_report(plan, key).round_by_round_bits() < required_soundness_bits) {
    verdict.scope = "/soundness";
    verdict.reason = "this shape has less than the required soundness";
    return verdict;
  }
  VerifierTranscript transcript(statement_seed(key, statement), payload);
  try {
    ProofClaims proven = verify_layers(plan, statement, transcript);
    const std::array oracles{CommittedOracle{plan.parameter_layout, key.parameter_oracle, key.parameter_root},
                             CommittedOracle{plan.witness_layout, plan.witness_oracle, proven.witness_root}};
    const std::array claims{std::move(proven.ledger.parameters), std::move(proven.ledger.witness)};
    verify_opening(transcript, oracles, claims);
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
