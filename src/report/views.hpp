#pragma once

#include "report/page.hpp"
#include "report/scopes.hpp"
#include "report/view.hpp"

namespace tessera::report {

// The sections of a report, each from what it is about.

/// Of the timings, the seconds of all; NaN if they do not have it.
double whole_seconds(const ProofArchive& archive);
/// Soundness as the verifier computes it; without a key what the file says.
const SoundnessReport& soundness_of(const Part& part);
/// "accepted", "rejected", "unverified": a word for people and for the style.
std::string verdict_of(const Part& part);

/// Texts and tokens, each with its place.
View conversation_view(const Conversation& conversation, const std::optional<VerifyingKey>& key);
/// Seconds and memory by scope and by rank.
View costs_view(const ProofArchive& archive, Palette& palette);
/// Bytes of the payload by scope and by message; needs the key's account.
View messages_view(const Part& part, Palette& palette);
View soundness_view(const Part& part, Palette& palette);
/// Machine, configuration, digests.
View facts_view(const Part& part);
/// A line for each proof.
View summary_view(const Report& report);
/// What can be compared of several proofs; false of one.
View comparison_view(const Report& report);
/// Shape and origin of the model.
View key_view(const VerifyingKey& key);

}  // namespace tessera::report
