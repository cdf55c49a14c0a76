#include <tessera/archive.hpp>
#include <tessera/verify.hpp>

#include "api/names.hpp"
#include "archive/isolated.hpp"
#include "base/errors.hpp"
#include "protocol/identified_key.hpp"
#include "protocol/protocol.hpp"
#include "tokenizer/decode.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera {

Verdict verify(std::span<const std::uint8_t> key, const Statement& statement, std::span<const std::uint8_t> payload) {
  return verify_beginning(IdentifiedKey::decode(key), statement, payload);
}

Verdict verify_continuation(std::span<const std::uint8_t> key, const Statement& statement,
                            std::span<const std::uint8_t> payload, const std::optional<ConversationState>& before) {
  return verify_continuation(IdentifiedKey::decode(key), statement, payload, before);
}

Verdict verify_conversation(std::span<const std::uint8_t> key, std::span<const StoredProof> parts) {
  if (parts.empty()) {
    throw InputError("proofs: expected one part of a conversation or more, found none");
  }
  const IdentifiedKey decoded = IdentifiedKey::decode(key);
  Verdict verdict;
  for (const StoredProof& part : parts) {
    const bool first = &part == parts.data();
    verdict = judge(decoded, part.key_digest, part.statement, part.payload, {!first, verdict.kept});
    if (!verdict.accepted) {
      verdict.reason = "part " + std::to_string(&part - parts.data() + 1) + ": " + verdict.reason;
      break;
    }
  }
  return verdict;
}

std::vector<std::uint32_t> encode(std::span<const std::uint8_t> key, const std::string& text, bool begins) {
  const Tokenizer tokenizer(VerifyingKey::decode(key).tokenizer);
  return begins ? tokenizer.encode_prompt(text) : tokenizer.encode(text);
}

std::string decode(std::span<const std::uint8_t> key, std::span<const std::uint32_t> ids) {
  return decode(VerifyingKey::decode(key).tokenizer, ids);
}

SoundnessBits soundness(std::span<const std::uint8_t> key, const Statement& statement) {
  const VerifyingKey decoded = VerifyingKey::decode(key);
  const SoundnessReport report = soundness_report(ModelPlan::of(decoded, statement), decoded);
  return {report.round_by_round_bits(), report.union_bits()};
}

std::vector<std::uint8_t> read_key(const std::filesystem::path& file) { return load_key_isolated(file).key.encode(); }

StoredProof read_proof(const std::filesystem::path& file) { return load_proof_isolated(file); }

std::vector<std::uint8_t> read_key(std::span<const std::uint8_t> file) {
  return load_key_isolated(key_name, file).key.encode();
}

StoredProof read_proof(std::span<const std::uint8_t> file) { return load_proof_isolated(proof_name, file); }

}  // namespace tessera
