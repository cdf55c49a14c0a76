#include "checkpoints/tokenizer_files.hpp"

#include <limits>
#include <map>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/end_tokens.hpp"
#include "checkpoints/tokenizer_json.hpp"
#include "plan/chat.hpp"
#include "plan/key.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

/// The token that ends a text: what the folder's files say, else what their class of tokenizers takes.
std::uint32_t end_of(const TokenizerFolder& folder, const TokenizerData& data) {
  constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();
  const auto known = [&](std::uint64_t id) { return id < data.vocabulary.size() && !data.vocabulary[id].empty(); };
  const std::uint64_t named = folder.end_token ? find_token(folder.root, *folder.end_token).value_or(none) : none;
  const std::uint64_t said = folder.end_id.is_number_unsigned() ? folder.end_id.get<std::uint64_t>() : none;
  if (!folder.end_file.empty() && !known(named)) {
    throw InputError(folder.end_file + ": eos_token: expected a token of the vocabulary, found " +
                     quoted_name(folder.end_token.value_or("")));
  }
  const std::uint64_t end = folder.end_file.empty() && known(said) ? said : named;
  if (!known(end)) {
    throw InputError(folder.name + ": expected a token that ends a text: eos_token in tokenizer_config.json or " +
                     "eos_token_id in config.json, found none");
  }
  return static_cast<std::uint32_t>(end);
}

/// Whether looking for merges anew after each one finds what going through all of a kind does: where a merge makes a
/// token, those that take it come later.
bool merges_in_rounds(const TokenizerData& data) {
  std::map<std::string, std::uint32_t> first;  // bytes -> the first merge with this token
  for (std::uint32_t rank = static_cast<std::uint32_t>(data.merges.size()); rank-- > 0;) {
    first[data.vocabulary[data.merges[rank].left]] = rank;
    first[data.vocabulary[data.merges[rank].right]] = rank;
  }
  for (std::uint32_t rank = 0; rank < data.merges.size(); ++rank) {
    const auto [left, right] = data.merges[rank];
    const auto user = first.find(data.vocabulary[left] + data.vocabulary[right]);
    if (user != first.end() && user->second <= rank) {
      return false;
    }
  }
  return true;
}

/// Makes it the kind of GPT-2's own files, which keys of GPT-2 have, if it says no more.
void as_gpt2(TokenizerData& data) {
  TokenizerData plain = data;
  plain.model = TokenizerModel::gpt2;
  plain.added.clear();
  plain.added_normalized.clear();
  const std::vector<std::uint32_t> end = {data.end_of_text};
  const bool one =
      (data.added == end && data.added_normalized.empty()) || (data.added_normalized == end && data.added.empty());
  std::size_t bytes = 0;
  for (const std::string& token : data.vocabulary) {
    bytes += token.size() == 1 ? 1 : 0;
    if (token.empty()) {
      return;
    }
  }
  if (one && is_gpt2(plain) && bytes == 256 && merges_in_rounds(data)) {
    data = std::move(plain);
  }
}

}  // namespace

TokenizerData load_tokenizer(const std::filesystem::path& folder, const ModelShape& shape,
                             std::optional<std::uint32_t> end_of_text, std::vector<std::string>* notes) {
  std::vector<std::string> unheard;
  std::vector<std::string>& lines = notes == nullptr ? unheard : *notes;
  const TokenizerFolder files = read_tokenizer_folder(folder, !shape.rotary(), lines);
  const std::string where = files.name + ": ";
  check_limit("n_vocab", shape.n_vocab, where + "size of the vocabulary");
  TokenizerData data = read_tokenizer_json(files, shape.n_vocab, lines);
  data.end_of_text = end_of_text ? *end_of_text : end_of(files, data);
  take_ends(data, folder_ends(folder, shape.n_vocab), where);
  if (!shape.rotary()) {
    as_gpt2(data);
  }
  check_chat(data, where);
  check_tokenizer_limits(data, where);
  require_tokenizer(data, where);
  return data;
}

void require_tokenizer(const TokenizerData& data, const std::string& where) {
  try {
    const Tokenizer checked(data);
  } catch (const InputError& error) {
    throw InputError(where + error.what());
  }
}

}  // namespace tessera
