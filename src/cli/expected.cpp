#include "cli/expected.hpp"

#include "base/errors.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/pipeline.hpp"
#include "cli/token_ids.hpp"
#include "tokenizer/decode.hpp"

namespace tessera::cli {

std::vector<std::uint32_t> read_expected(const std::string& path, bool as_ids, const Tokenizer& tokenizer,
                                         std::span<const std::uint32_t> prompt) {
  std::string text = read_edited_text_file(path);
  if (text.ends_with('\n')) {
    text.resize(text.size() - (text.ends_with("\r\n") ? 2 : 1));
  }
  std::vector<std::uint32_t> ids;
  if (as_ids) {
    try {
      ids = ids_of(text);
    } catch (const InputError& error) {
      throw InputError(path + ": " + error.what());
    }
    for (const std::uint32_t id : ids) {
      if (id >= tokenizer.data().vocabulary.size()) {
        throw InputError(path + ": expected ids below " + std::to_string(tokenizer.data().vocabulary.size()) +
                         ", found " + std::to_string(id));
      }
    }
  } else {
    ids = tokenizer.encode_prompt(tokenizer.decode(prompt) + text);
    if (ids.size() > prompt.size() && std::ranges::equal(std::span(ids).first(prompt.size()), prompt)) {
      ids.erase(ids.begin(), ids.begin() + std::ssize(prompt));
    } else {
      ids = tokenizer.encode(text);
    }
  }
  if (ids.empty() || ids.size() > max_generated) {
    throw InputError(path + ": expected 1 to " + std::to_string(max_generated) + " tokens, found " +
                     std::to_string(ids.size()));
  }
  return ids;
}

std::string difference(const TokenizerData& tokenizer, std::span<const std::uint32_t> expected, bool as_ids,
                       const OtherToken& other) {
  const auto shown = [&](std::uint32_t id) {
    return std::to_string(id) + " (" + quoted_name(decode(tokenizer, std::span(&id, 1))) + ")";
  };
  std::string text = "expected what the model generates, found token " + std::to_string(other.place + 1) + " of " +
                     std::to_string(expected.size()) + " to be " + shown(other.known) + ", where the model chooses " +
                     shown(other.chosen);
  const std::string rest = decode(tokenizer, expected.subspan(other.place));
  if (rest.starts_with(decode(tokenizer, std::span(&other.chosen, 1)))) {
    text += "; it may be another split of the same text: give the ids that were generated";
  }
  const std::string whole = decode(tokenizer, expected);
  if (!as_ids && looks_like_ids(std::string_view(whole).substr(std::min(whole.find_first_not_of(' '), whole.size())))) {
    text += "; the file was taken for a text: --expect-ids takes one of ids";
  }
  return text;
}

}  // namespace tessera::cli
