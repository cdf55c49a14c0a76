#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

#include <tessera/statement.hpp>

namespace tessera {

/// What the verifier found out. `accepted` is the verdict; otherwise scope and reason say where the proof fails.
struct Verdict {
  bool accepted = false;
  std::string scope;
  std::string reason;
  std::map<std::string, double> timings;  // seconds by scope
  std::optional<ConversationState> kept;  // where the next part begins, if this one is accepted and keeps a state
};

/// A continuation's statement names the state that it starts from: accepted, it says nothing of how that came to be. A
/// conversation is proven if its first part has no start and each later part's start is Verdict::kept of the one
/// before.
///
/// Checks that `payload` proves the statement under the key, which is the canonical byte string of a verifying key.
/// Serial; needs no model, MPI or GPU. Never throws for anything that a prover supplies; throws InputError if the key
/// itself is unusable.
Verdict verify(std::span<const std::uint8_t> key, const Statement& statement, std::span<const std::uint8_t> payload);

/// The text of token ids, from the key's vocabulary; throws InputError if the key is unusable or an id is not in it.
std::string decode(std::span<const std::uint8_t> key, std::span<const std::uint32_t> ids);

}  // namespace tessera
