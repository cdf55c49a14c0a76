#include "plan/ends.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "plan/limits.hpp"

namespace tessera {

bool is_end(const TokenizerData& tokenizer, std::uint32_t id) {
  return id == tokenizer.end_of_text || std::ranges::binary_search(tokenizer.ends, id);
}

std::vector<std::uint32_t> ends_of(const TokenizerData& tokenizer) {
  return tokenizer.ends.empty() ? std::vector<std::uint32_t>{tokenizer.end_of_text} : tokenizer.ends;
}

std::string completeness_text(const TokenizerData& tokenizer, std::span<const std::uint32_t> generated) {
  const std::uint32_t last = generated.back();
  return is_end(tokenizer, last) ? "complete (ended by " + quoted_name(tokenizer.vocabulary.at(last)) + ", token " +
                                       std::to_string(last) + ")"
                                 : "cut off at " + counted(generated.size(), "token");
}

std::optional<std::uint32_t> ended_by(const VerifyingKey& key, const Statement& statement) {
  const bool ended = !statement.generated.empty() && is_end(key.tokenizer, statement.generated.back());
  return ended ? std::optional(statement.generated.back()) : std::nullopt;
}

void check_ends(const TokenizerData& tokenizer, std::size_t vocabulary, const std::string& prefix) {
  const std::vector<std::uint32_t>& ends = tokenizer.ends;
  if (ends.empty()) {
    return;
  }
  check_limit("end tokens", ends.size(), prefix + "ends: end tokens");
  for (std::size_t i = 0; i < ends.size(); ++i) {
    check_token(ends[i], vocabulary, prefix + "ends");
    if (i > 0 && ends[i] <= ends[i - 1]) {
      throw InputError(prefix + "ends: expected ascending ids, found " + std::to_string(ends[i]) + " behind " +
                       std::to_string(ends[i - 1]));
    }
  }
  if (!std::ranges::binary_search(ends, tokenizer.end_of_text)) {
    throw InputError(prefix + "ends: expected the end of text, " + std::to_string(tokenizer.end_of_text) +
                     ", among them, found a list without it");
  }
}

}  // namespace tessera
