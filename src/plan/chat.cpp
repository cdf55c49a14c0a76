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

}  // namespace tessera
