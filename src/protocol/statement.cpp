#include "base/little_endian.hpp"
#include "protocol/protocol.hpp"

namespace tessera {

StatementAccount account_of(const Gpt2Plan& plan, const VerifyingKey& key, PositionSource positions) {
  const std::vector<std::uint32_t> generated(plan.generated);
  const Statement shape{std::vector<std::uint32_t>(plan.prompt_length), generated};  // ids change no message's length
  AccountingTranscript transcript(std::move(positions));
  ClaimLedgerOf<Nothing> ledger = verify_all(plan, key, shape, transcript).ledger;
  return {transcript.release(), std::move(ledger)};
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

}  // namespace tessera
