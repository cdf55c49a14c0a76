#include "cli/expected.hpp"

#include "base/errors.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/pipeline.hpp"
#include "tokenizer/decode.hpp"

namespace tessera::cli {

std::vector<std::uint32_t> ids_of(std::string_view text) {
  std::vector<std::uint32_t> ids;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string number(text.substr(begin, end - begin));
    if (number.empty() || number.size() > 9) {
      throw InputError("expected token ids, found " + quoted_name(std::string(text)));
    }
    ids.push_back(static_cast<std::uint32_t>(std::stoul(number)));
    begin = end + 1;
  }
  return ids;
}

bool is_ids(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789,") == std::string_view::npos;
}

std::vector<std::uint32_t> read_expected(const std::string& path, const Tokenizer& tokenizer,
                                         std::span<const std::uint32_t> prompt) {
  std::string text = read_edited_text_file(path);
  if (text.ends_with('\n')) {
    text.resize(text.size() - (text.ends_with("\r\n") ? 2 : 1));
  }
  std::vector<std::uint32_t> ids;
  if (is_ids(text)) {
    ids = ids_of(text);
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

std::string difference(const TokenizerData& tokenizer, std::span<const std::uint32_t> expected,
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
  return text;
}

}  // namespace tessera::cli
