#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tessera/verify.hpp>

#include "archive/proof_file.hpp"
#include "protocol/identified_key.hpp"
#include "transcript/account.hpp"

namespace tessera::report {

/// What the verifier says of a proof, and what the key says of its statement.
struct Verification {
  bool accepted = false;
  std::string scope, reason;  // where and why it is rejected
  double seconds = 0;
  std::optional<ConversationState> kept;
  std::vector<ClampedValues> clamped;
  /// Computed from key and lengths alone; nothing where no proof of such a statement exists.
  std::optional<SoundnessReport> soundness;
  /// All messages: with an accepted proof's own lengths, else with the most that they can have.
  std::optional<Account> account;
  bool another_key = false;  // the proof names another one than it was verified with, which says nothing of its ids
};

/// `part`: its place in its conversation; `before`: what the part before it keeps. Never throws for anything that is
/// in the archive.
Verification verify(const IdentifiedKey& key, const ProofArchive& archive, std::size_t part,
                    const std::optional<ConversationState>& before);

}  // namespace tessera::report
