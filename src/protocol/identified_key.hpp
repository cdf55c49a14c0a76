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

/// Why a proof is rejected that names another key than it is verified with.
inline constexpr const char* made_for_another_key = "the proof was made for another verifying key";

/// What a proof stands behind.
struct Before {
  bool part = false;                           ///< a part of a conversation; else the proof begins one
  std::optional<ConversationState> kept = {};  ///< what that part keeps
};
/// The verdict on a proof that says it was made for the key of this digest.
Verdict judge(const IdentifiedKey& key, const Digest& made_for, const Statement& statement,
              std::span<const std::uint8_t> payload, const Before& before);

}  // namespace tessera
