#include "plan/chat.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "plan/limits.hpp"
#include "tokenizer/normalize.hpp"

namespace tessera {

bool is_added(const TokenizerData& tokenizer, std::uint32_t id) {
  return std::ranges::binary_search(tokenizer.added, id) ||
         std::ranges::binary_search(tokenizer.added_normalized, id) ||
         (tokenizer.model == TokenizerModel::gpt2 && id == tokenizer.end_of_text);
}

namespace {

void check_text(const std::string& text, std::string_view limit, const std::string& field) {
  check_limit(limit, text.size(), field + ": " + std::string(limit));
  if (well_formed_length(text) != text.size()) {
    throw InputError(field + ": expected UTF-8, found other bytes at " + std::to_string(well_formed_length(text)));
  }
}

}  // namespace

void check_chat(const TokenizerData& tokenizer, const std::string& prefix) {
  const ChatTemplate& chat = tokenizer.chat;
  if (chat.text.empty()) {
    if (chat != ChatTemplate{}) {
      throw InputError(prefix + "chat_template: expected a template beside its tokens, found none");
    }
    return;
  }
  check_text(chat.text, "chat template bytes", prefix + "chat_template");
  for (std::size_t i = 0; i < chat.tokens.size(); ++i) {
    check_text(chat.tokens[i], "chat token bytes", prefix + std::string(chat_token_names[i]));
  }
  check_limit("added tokens", chat.special.size(), prefix + "special: added tokens");
  for (std::size_t i = 0; i < chat.special.size(); ++i) {
    const std::uint32_t id = chat.special[i];
    if (!is_added(tokenizer, id) || (i > 0 && id <= chat.special[i - 1])) {
      throw InputError(prefix + "special: expected ascending ids of added tokens, found " + std::to_string(id));
    }
  }
}

Digest digest_of(const ChatTemplate& chat) {
  return blake2s({reinterpret_cast<const std::uint8_t*>(chat.text.data()), chat.text.size()});
}

std::string_view first_lines(std::string_view text) {
  constexpr std::size_t most_lines = 5, most_bytes = 400;
  std::size_t size = 0;
  for (std::size_t line = 0; line < most_lines && size < text.size(); ++line) {
    size = std::min(text.find('\n', size), text.size() - 1) + 1;
  }
  size = std::min(size, most_bytes);
  const auto continues = [&](std::size_t at) { return (static_cast<std::uint8_t>(text[at]) & 0xC0U) == 0x80U; };
  while (size < text.size() && size > 0 && continues(size)) {
    --size;
  }
  return text.substr(0, size);
}

std::string named_tokens_text(const ChatTemplate& chat) {
  std::string text;
  for (std::size_t i = 0; i < chat.tokens.size(); ++i) {
    if (!chat.tokens[i].empty()) {
      text += (text.empty() ? "" : ", ") + std::string(chat_token_names[i]) + " " + chat.tokens[i];
    }
  }
  return text;
}

std::string special_tokens_text(const TokenizerData& tokenizer) {
  constexpr std::size_t most = 24;
  const std::vector<std::uint32_t>& ids = tokenizer.chat.special;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, ids.size()); ++i) {
    const std::string token = ids[i] < tokenizer.vocabulary.size() ? tokenizer.vocabulary[ids[i]] : "";
    text += (i == 0 ? "" : ", ") + token + " (" + std::to_string(ids[i]) + ")";
  }
  return text + (ids.size() > most ? " and " + std::to_string(ids.size() - most) + " more" : "");
}

}  // namespace tessera
