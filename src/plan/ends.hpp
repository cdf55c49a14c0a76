#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tessera/statement.hpp>

#include "plan/key.hpp"

namespace tessera {

inline constexpr std::size_t most_ends = 64;

/// Whether this is a token after which a model with this tokenizer says no more.
bool is_end(const TokenizerData& tokenizer, std::uint32_t id);
/// All tokens after which it says no more, by ascending id: the list of ends, or the end of text alone.
std::vector<std::uint32_t> ends_of(const TokenizerData& tokenizer);

/// "complete (ended by \"<|im_end|>\", token 2)" or "cut off at 24 tokens", of what was generated, at least one token.
std::string completeness_text(const TokenizerData& tokenizer, std::span<const std::uint32_t> generated);

/// The last generated token, if the key's model says no more after it: then the text is complete. Else it is cut off.
std::optional<std::uint32_t> ended_by(const VerifyingKey& key, const Statement& statement);

/// Throws InputError naming the field, `prefix` in front, unless the list of ends is empty or has 2 to 64 ascending ids
/// below the size of the vocabulary, the end of text among them.
void check_ends(const TokenizerData& tokenizer, std::size_t vocabulary, const std::string& prefix);

}  // namespace tessera
