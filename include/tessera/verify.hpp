#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <tessera/statement.hpp>

namespace tessera {

/// Values of one kind that the model's integers have left their range with in this statement: the proof says where, and
/// that they were cut to their limits.
struct ClampedValues {
  std::string tensor;
  std::uint64_t count = 0;
};

/// What the verifier found out. `accepted` is the verdict; otherwise scope and reason say where the proof fails.
struct Verdict {
  bool accepted = false;  // after the prompt, the key's model generates these tokens first; the prover chose how many
  std::string scope;
  std::string reason;
  std::map<std::string, double> timings;    // seconds by scope
  std::optional<ConversationState> kept;    // where the next part begins, if this one is accepted and keeps a state
  std::vector<ClampedValues> clamped = {};  // of an accepted proof, those kinds that there are
  /// The last token of an accepted proof, if it is one after which the key's model says no more. Then the text is
  /// complete; else it is cut off, and the model may go on.
  std::optional<std::uint32_t> ended_by = {};
};

/// Checks that `payload` proves the statement under the key, which is the canonical byte string of a verifying key.
/// Serial; needs no model, MPI or GPU. Never throws for anything that a prover supplies; throws InputError if the key
/// itself is unusable, std::bad_alloc if memory runs out: then nothing is known of the proof.
///
/// Of a proof that is whole, or begins a conversation: a continuation alone says nothing of what came before it, and is
/// rejected.
Verdict verify(std::span<const std::uint8_t> key, const Statement& statement, std::span<const std::uint8_t> payload);

/// Checks that `payload` proves a later part of a conversation under the key, as verify() does for a beginning; all
/// parts before it must have been accepted. `before`: Verdict::kept of the part before this one, as these functions
/// have given it. A part that does not start exactly there is rejected, and so is every part after one that keeps
/// nothing: a beginning is never verified here. verify_conversation() of archive.hpp takes all parts.
Verdict verify_continuation(std::span<const std::uint8_t> key, const Statement& statement,
                            std::span<const std::uint8_t> payload, const std::optional<ConversationState>& before);

/// What the bounds of the protocol give for proofs of a statement: -log2 of the error of the worst round, and of the
/// sum of all rounds' errors.
struct SoundnessBits {
  double least = 0;
  double sum = 0;
};
/// Throws InputError if the key is unusable or its model cannot have the statement.
SoundnessBits soundness(std::span<const std::uint8_t> key, const Statement& statement);

/// The canonical token ids of a text under the key's tokenizer, as ExpectedIds of expected.hpp takes them. `begins`:
/// with the tokens that stand before every text, as where a conversation begins. Throws InputError if the key is
/// unusable or its tokenizer does not take the text.
std::vector<std::uint32_t> encode(std::span<const std::uint8_t> key, const std::string& text, bool begins = true);

/// The text of token ids, from the key's vocabulary; throws InputError if the key is unusable or an id is not in it.
std::string decode(std::span<const std::uint8_t> key, std::span<const std::uint32_t> ids);

}  // namespace tessera
