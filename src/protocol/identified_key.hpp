#pragma once

#include <optional>
#include <span>

#include <tessera/verify.hpp>

#include "plan/key.hpp"

namespace tessera {

/// A key that was read, and its digest: a key has a byte string of megabytes, which need not be made and hashed for
/// every proof.
struct IdentifiedKey {
  VerifyingKey key;
  Digest digest{};  // of `key`
  /// Throws InputError as VerifyingKey::decode() does.
  static IdentifiedKey decode(std::span<const std::uint8_t> bytes);
};

/// verify_beginning() and verify_continuation() of protocol.hpp for a key whose digest is known.
Verdict verify_beginning(const IdentifiedKey& key, const Statement& statement, std::span<const std::uint8_t> payload);
Verdict verify_continuation(const IdentifiedKey& key, const Statement& statement, std::span<const std::uint8_t> payload,
                            const std::optional<ConversationState>& before);

}  // namespace tessera
