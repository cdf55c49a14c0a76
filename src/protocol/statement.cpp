#include "base/little_endian.hpp"
#include "protocol/protocol.hpp"

namespace tessera {

StatementAccount account_of(const ModelPlan& plan, const VerifyingKey& key, PositionSource positions,
                            const ExceptionCounts& exceptions) {
  AccountingTranscript transcript(std::move(positions));
  const ExceptionCounts counts = exceptions.empty() ? ExceptionCounts(plan.clamped.size()) : exceptions;
  ClaimLedger ledger = verify_all(plan, key, statement_of(plan.pass), transcript, &counts).ledger;
  return {transcript.release(), std::move(ledger)};
}

SoundnessReport soundness_report(const ModelPlan& plan, const VerifyingKey& key) {
  return account_of(plan, key, spread_positions, most_exceptions(plan)).account.soundness();
}

Digest statement_seed(const VerifyingKey& key, const Statement& statement) {
  return statement_seed(key.digest(), statement);
}

Digest statement_seed(const Digest& key_digest, const Statement& statement) {
  std::vector<std::uint8_t> message;
  for (const char c : std::string_view("tessera")) {
    message.push_back(static_cast<std::uint8_t>(c));
  }
  append_little_endian(message, format_version);
  message.insert(message.end(), key_digest.begin(), key_digest.end());
  for (const auto* ids : {&statement.prompt, &statement.generated}) {
    append_little_endian<std::uint64_t>(message, ids->size());
    for (const std::uint32_t id : *ids) {
      append_little_endian(message, id);
    }
  }
  const std::uint32_t flags = (statement.start ? 1U : 0U) | (statement.keeps ? 2U : 0U) |
                              (statement.pass_length != 0 ? 4U : 0U) | (statement.sampling ? 8U : 0U);
  if (flags != 0) {
    append_little_endian(message, flags);
  }
  if (statement.start) {
    message.insert(message.end(), statement.start->root.begin(), statement.start->root.end());
    append_little_endian<std::uint64_t>(message, statement.start->length);
    append_little_endian<std::uint32_t>(message, statement.start->last_token);
  }
  if (statement.pass_length != 0) {
    append_little_endian(message, statement.pass_length);
  }
  if (const auto& sampling = statement.sampling) {
    const std::uint32_t mode = sampling->dense() ? 2 : 1;  // 1: candidates stand in the proof
    for (const std::uint32_t number :
         {mode, sampling->inverse_temperature, sampling->top_k, sampling->top_p, sampling->cutoff}) {
      append_little_endian(message, number);
    }
    message.insert(message.end(), sampling->seed.begin(), sampling->seed.end());
  }
  return blake2s(message);
}

ConversationState kept_state(const Plan& plan, const Statement& statement, const Digest& root) {
  return {root, plan.past + plan.kept_rows, statement.generated.back()};
}

}  // namespace tessera
