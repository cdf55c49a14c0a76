#include "protocol/protocol.hpp"

#include "cli/pipeline.hpp"

namespace tessera::cli {

void verify_proof(const VerifyingKey& key, const Statement& statement, std::span<const std::uint8_t> payload) {
  const Verdict verdict = verify_inference(key, statement, payload);
  if (!verdict.accepted) {
    throw Rejected(verdict.scope, verdict.reason);
  }
}

}  // namespace tessera::cli
