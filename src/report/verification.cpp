#include "report/verification.hpp"

#include <chrono>

#include "base/errors.hpp"
#include "protocol/protocol.hpp"

namespace tessera::report {
namespace {

/// The positions that the verifier of an accepted proof draws, draw by draw, and how long its lists of exceptions are.
struct Drawn {
  std::vector<std::vector<std::size_t>> positions;
  ExceptionCounts exceptions;
};
Drawn drawn_from(const ModelPlan& plan, const VerifyingKey& key, const ProofArchive& archive) {
  Drawn drawn;
  VerifierTranscript transcript(statement_seed(key, archive.statement), archive.payload);
  transcript.set_listener({.draws = [&](const auto& positions) { drawn.positions.emplace_back(positions); }});
  drawn.exceptions = tessera::verify_all(plan, key, archive.statement, transcript).exceptions;
  return drawn;
}

Account messages_of(const ModelPlan& plan, const VerifyingKey& key, const ProofArchive& archive, bool accepted) {
  if (!accepted) {
    return account_of(plan, key).account;
  }
  const Drawn drawn = drawn_from(plan, key, archive);
  std::size_t draw = 0;
  return account_of(
             plan, key, [&](std::size_t /*count*/, unsigned /*log_size*/) { return drawn.positions.at(draw++); },
             drawn.exceptions)
      .account;
}

}  // namespace

Verification verify(const IdentifiedKey& identified, const ProofArchive& archive, std::size_t part,
                    const std::optional<ConversationState>& before) {
  const auto start = std::chrono::steady_clock::now();
  Verdict verdict = judge(identified, archive.key_digest, archive.statement, archive.payload, {part > 0, before});
  Verification result{verdict.accepted,
                      std::move(verdict.scope),
                      std::move(verdict.reason),
                      0,
                      verdict.kept,
                      std::move(verdict.clamped),
                      {},
                      {},
                      false};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.another_key = archive.key_digest != identified.digest;
  if (result.another_key) {
    return result;  // what this key says of the lengths is beside the point
  }
  const VerifyingKey& key = identified.key;
  try {
    const ModelPlan plan = ModelPlan::of(key, archive.statement);
    result.soundness = soundness_report(plan, key);
    result.account = messages_of(plan, key, archive, result.accepted);
  } catch (const InputError&) {  // the model has no such statement: rejected for it
  }
  return result;
}

}  // namespace tessera::report
