#pragma once

#include "report/page.hpp"
#include "report/scopes.hpp"
#include "report/view.hpp"

namespace tessera::report {

// The sections of a report, each from what it is about.

/// Seconds of the whole proof, from its timings; NaN if these do not have it.
double whole_seconds(const ProofArchive& archive);
/// Soundness as the verifier computes it; without a key what the file says.
const SoundnessReport& soundness_of(const Part& part);
/// "accepted", "rejected", "unverified": a word for people and for the style.
std::string verdict_of(const Part& part);

/// A file as people are told of it: "2. part.h5" of several.
std::string name_of(const Part& part, std::size_t number, bool several);

/// Texts and tokens, each with its place.
View conversation_view(const Conversation& conversation, const std::optional<VerifyingKey>& key);
/// Figures of seconds and memory by scope and by rank.
View costs_view(const ProofArchive& archive);
/// A figure of the payload's bytes by scope; needs the key's account.
View messages_view(const Part& part);
View soundness_view(const Part& part);
/// All numbers of all proofs, each table once: a column for each proof.
View tables_view(const std::vector<const Part*>& parts);
/// Machine, configuration, digests.
View facts_view(const Part& part);
/// A line for each proof.
View summary_view(const Report& report);
/// What can be compared of several proofs; false of one.
View comparison_view(const Report& report);
/// The key that was given, what renewed it, and the model's shape.
View key_view(const VerifyingKey& key, const KeyOrigin& origin);

}  // namespace tessera::report
