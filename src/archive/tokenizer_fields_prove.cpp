#include "archive/tokenizer_fields.hpp"

#include <algorithm>

#include "base/text.hpp"
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

}  // namespace

void write_tokenizer_fields(WriteFile& file, const std::string& group, const TokenizerData& tokenizer) {
  if (!tokenizer.ends.empty()) {
    file.write(group + "ends", tokenizer.ends);
  }
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
  if (!file.contains(group + "kind")) {
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
  check_tokenizer_limits(tokenizer, file.path().string() + ": " + group);
}

}  // namespace tessera
