#include "archive/tokenizer_fields.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "plan/chat.hpp"
#include "plan/ends.hpp"
#include "plan/key.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t max_name = 64;

struct IdList {
  const char* name;
  std::string_view limit;
  std::vector<std::uint32_t> TokenizerData::*ids;
};
constexpr IdList id_lists[] = {{"byte_tokens", "byte tokens", &TokenizerData::byte_tokens},
                               {"added_tokens", "added tokens", &TokenizerData::added},
                               {"added_normalized", "added tokens", &TokenizerData::added_normalized},
                               {"prefix", "prefix tokens", &TokenizerData::prefix},
                               {"tied", "merges", &TokenizerData::tied},
                               {"added_lstrip", "added tokens", &TokenizerData::added_lstrip},
                               {"added_rstrip", "added tokens", &TokenizerData::added_rstrip}};

template <class Enum>
Enum read_choice(const ReadFile& file, const std::string& name, std::span<const std::string_view> names) {
  const std::string found = file.read_text(name, max_name);
  const auto place = std::ranges::find(names, found);
  if (place == names.end()) {
    file.fail(name, "a known name", quoted_name(found));
  }
  return static_cast<Enum>(place - names.begin());
}

void read_ends(const ReadFile& file, const std::string& group, TokenizerData& tokenizer) {
  if (!file.contains(group + "ends")) {
    return;
  }
  tokenizer.ends = file.read_list<std::uint32_t>(group + "ends", most_ends);
  if (tokenizer.ends.empty()) {
    file.fail(group + "ends", "2 ids or more", "none");
  }
  check_ends(tokenizer, tokenizer.vocabulary.size(), file.path().string() + ": " + group);
}

void write_chat(WriteFile& file, const std::string& group, const ChatTemplate& chat) {
  if (chat.text.empty()) {
    return;
  }
  file.write_text(group + "chat_template", chat.text);
  for (std::size_t i = 0; i < chat.tokens.size(); ++i) {
    if (!chat.tokens[i].empty()) {
      file.write_text(group + std::string(chat_token_names[i]), chat.tokens[i]);
    }
  }
  if (!chat.special.empty()) {
    file.write(group + "special", chat.special);
  }
}

ChatTemplate read_chat(const ReadFile& file, const std::string& group) {
  ChatTemplate chat;
  if (file.contains(group + "chat_template")) {
    chat.text = file.read_text(group + "chat_template", max_chat_template);
  }
  const auto most = static_cast<std::uint64_t>(limit_of("chat token bytes").most);
  for (std::size_t i = 0; i < chat.tokens.size(); ++i) {
    if (const std::string name = group + std::string(chat_token_names[i]); file.contains(name)) {
      chat.tokens[i] = file.read_text(name, most);
    }
  }
  if (file.contains(group + "special")) {
    chat.special =
        file.read_list<std::uint32_t>(group + "special", static_cast<std::uint64_t>(limit_of("added tokens").most));
  }
  return chat;
}

}  // namespace

void write_tokenizer_fields(WriteFile& file, const std::string& group, const TokenizerData& tokenizer) {
  if (!tokenizer.ends.empty()) {
    file.write(group + "ends", tokenizer.ends);
  }
  write_chat(file, group, tokenizer.chat);
  if (is_gpt2(tokenizer)) {
    return;
  }
  file.write_text(group + "kind", name_of(tokenizer.model));
  file.write_text(group + "pre_tokenizer", name_of(tokenizer.split));
  file.write_text(group + "normalizer", name_of(tokenizer.normalizer));
  file.write_scalar<std::uint8_t>(group + "ignore_merges", tokenizer.ignore_merges ? 1 : 0);
  for (const auto& [name, limit, ids] : id_lists) {
    if (!(tokenizer.*ids).empty()) {
      file.write(group + name, tokenizer.*ids);
    }
  }
}

void read_tokenizer_fields(const ReadFile& file, const std::string& group, TokenizerData& tokenizer) {
  read_ends(file, group, tokenizer);
  tokenizer.chat = read_chat(file, group);
  if (!file.contains(group + "kind")) {
    check_chat(tokenizer, file.path().string() + ": " + group);
    return;
  }
  tokenizer.model = read_choice<TokenizerModel>(file, group + "kind", tokenizer_models());
  tokenizer.split = read_choice<Split>(file, group + "pre_tokenizer", splits());
  tokenizer.normalizer = read_choice<Normalizer>(file, group + "normalizer", normalizers());
  tokenizer.ignore_merges = file.read_scalar<std::uint8_t>(group + "ignore_merges") != 0;
  for (const auto& [name, limit, ids] : id_lists) {
    if (file.contains(group + name)) {
      tokenizer.*ids = file.read_list<std::uint32_t>(group + name, static_cast<std::uint64_t>(limit_of(limit).most));
    }
  }
  check_chat(tokenizer, file.path().string() + ": " + group);
  check_tokenizer_limits(tokenizer, file.path().string() + ": " + group);
}

}  // namespace tessera
