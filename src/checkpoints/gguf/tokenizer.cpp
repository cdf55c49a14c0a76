#include "checkpoints/gguf/tokenizer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/byte_symbols.hpp"
#include "checkpoints/config_fields.hpp"
#include "checkpoints/end_tokens.hpp"
#include "checkpoints/gguf/merges.hpp"
#include "checkpoints/gguf/splits.hpp"
#include "checkpoints/tokenizer_files.hpp"
#include "plan/chat.hpp"
#include "plan/key.hpp"
#include "plan/limits.hpp"
#include "tokenizer/normalize.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera {
namespace {

using nlohmann::json;

constexpr const char* hint = "; a tokenizer.json beside the file is taken in its place";
constexpr std::size_t most_piece_bytes = 256;  // every cut of a piece is looked up
constexpr const char* prefix = "tokenizer.ggml.";

/// Values of tokenizer.ggml.token_type.
constexpr double normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6;

std::uint32_t gguf_token(const ConfigFields& fields, const std::string& name, std::size_t vocabulary) {
  const std::string key = prefix + name;
  const json id = fields.has_value(key) ? fields.at(key) : json();
  if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= vocabulary) {
    fields.refuse(key, "an id below " + std::to_string(vocabulary), id);
  }
  return id.get<std::uint32_t>();
}

class GgufTokenizer {
 public:
  explicit GgufTokenizer(const GgufFile& file) : file_(file), fields_(file.metadata().values, file.name()) {}

  TokenizerData read() {
    const std::string model = text("model", {"gpt2", "llama"});
    read_tokens();
    bool add_bos = true;
    if (model == "llama") {
      data_.model = TokenizerModel::byte_fallback;
      data_.split = Split::whole;
      data_.normalizer = flag("add_space_prefix", true) ? Normalizer::prepend_space : Normalizer::none;
      flag("remove_extra_whitespaces", false, false);
      read_vocabulary();
      read_scores();
    } else {
      add_bos = read_split();
      read_vocabulary();
      read_merges();
    }
    read_special(add_bos);
    return std::move(data_);
  }

 private:
  [[nodiscard]] std::string at(const std::string& key) const { return file_.name() + ": " + prefix + key; }

  std::string text(const std::string& key, const std::vector<std::string>& accepted) {
    const std::string name = prefix + key;
    const json found = fields_.has_value(name) ? fields_.at(name) : json();
    if (!found.is_string() || std::ranges::find(accepted, found.get<std::string>()) == accepted.end()) {
      fields_.refuse(name, "one of " + json(accepted).dump() + hint, found);
    }
    return found.get<std::string>();
  }

  /// A truth value, which must be `needed` if that is said.
  bool flag(const std::string& key, bool absent, std::optional<bool> needed = {}) {
    const std::string name = prefix + key;
    const json found = fields_.has_value(name) ? fields_.at(name) : json(absent);
    if (!found.is_boolean() || (needed && found != *needed)) {
      fields_.refuse(name, needed ? json(*needed).dump() + hint : "true or false", found);
    }
    return found.get<bool>();
  }

  const std::vector<std::string>& texts(const std::string& key) {
    const auto found = file_.metadata().texts.find(prefix + key);
    if (found == file_.metadata().texts.end()) {
      throw InputError(at(key) + ": expected a list of texts, found none" + hint);
    }
    return found->second;
  }

  const std::vector<double>& numbers(const std::string& key, std::size_t count) {
    const auto found = file_.metadata().numbers.find(prefix + key);
    const std::size_t size = found == file_.metadata().numbers.end() ? 0 : found->second.size();
    if (size != count) {
      throw InputError(at(key) + ": expected " + std::to_string(count) + " numbers, found " + std::to_string(size));
    }
    return found->second;
  }

  const std::vector<double>& scores() {
    const std::vector<double>& values = numbers("scores", tokens_->size());
    const auto bad = std::ranges::find_if(values, [](double value) { return !std::isfinite(value); });
    if (bad != values.end()) {
      throw InputError(at("scores[" + std::to_string(bad - values.begin()) + "]") +
                       ": expected a finite number, found another");
    }
    return values;
  }

  void read_tokens() {
    tokens_ = &texts("tokens");
    check_limit("n_vocab", tokens_->size(), at("tokens") + ": number of tokens");
    types_ = &numbers("token_type", tokens_->size());
    data_.vocabulary.resize(tokens_->size());
  }

  bool read_split() {
    const GgufSplit& pre = gguf_split_of(text("pre", gguf_split_names()));
    data_.model = TokenizerModel::byte_level;
    data_.split = pre.split;
    data_.normalizer = pre.normalizer;
    data_.ignore_merges = pre.ignore_merges;
    return pre.add_bos;
  }

  /// Bytes of an ordinary token.
  [[nodiscard]] std::string ordinary(const std::string& token, const std::string& what) const {
    const bool characters = data_.model == TokenizerModel::byte_fallback;
    if (characters && token.size() > most_piece_bytes) {
      throw InputError(what + ": expected at most " + std::to_string(most_piece_bytes) + " bytes, found " +
                       std::to_string(token.size()));
    }
    std::string bytes = characters ? marks_to_spaces(token) : bytes_of_symbols(token);
    if (bytes.empty() || (characters && token.find(' ') != std::string::npos)) {
      throw InputError(what +
                       (characters ? ": expected a text without spaces, found "
                                   : ": expected one or more symbols of GPT-2's byte alphabet, found ") +
                       quoted_name(token));
    }
    return bytes;
  }

  void read_vocabulary() {
    const bool characters = data_.model == TokenizerModel::byte_fallback;
    std::vector<std::optional<std::uint32_t>> bytes(256);
    for (std::uint32_t id = 0; id < tokens_->size(); ++id) {
      const std::string& token = (*tokens_)[id];
      const std::string what = at("tokens[" + std::to_string(id) + "]");
      const double type = (*types_)[id];
      if (type == normal) {
        data_.vocabulary[id] = ordinary(token, what);
      } else if (type == byte && characters && byte_of_token(token)) {
        bytes[*byte_of_token(token)] = id;
        data_.vocabulary[id] = std::string(1, static_cast<char>(*byte_of_token(token)));
      } else if (type == control || type == user_defined || (type == unknown && characters)) {
        data_.vocabulary[id] = token;
        data_.added.push_back(id);
      } else if (type != unused) {
        throw InputError(at("token_type[" + std::to_string(id) + "]") + ": expected the type of a token like " +
                         quoted_name(token) + ", found " + json(type).dump());
      }
    }
    for (std::size_t number = 0; characters && number < bytes.size(); ++number) {
      if (!bytes[number]) {
        throw InputError(at("tokens") + ": token of the byte " + std::to_string(number) + " is missing");
      }
      data_.byte_tokens.push_back(*bytes[number]);
    }
  }

  /// Ordinary tokens as they are written.
  std::unordered_map<std::string_view, std::uint32_t> pieces() const {
    std::unordered_map<std::string_view, std::uint32_t> ids;
    for (std::uint32_t id = 0; id < tokens_->size(); ++id) {
      if ((*types_)[id] == normal) {
        ids.emplace((*tokens_)[id], id);
      }
    }
    return ids;
  }

  void read_scores() {
    ScoredMerges scored = merges_of_scores(pieces(), scores());
    data_.merges = std::move(scored.merges);
    data_.tied = std::move(scored.tied);
    data_.model = data_.tied.empty() ? TokenizerModel::byte_fallback : TokenizerModel::tied_fallback;
  }

  void read_merges() {
    const auto ids = pieces();
    const std::vector<std::string>& lines = texts("merges");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string_view line = lines[i];
      const std::size_t space = line.find(' ');
      const auto left = ids.find(line.substr(0, space));
      const auto right = space == std::string::npos ? ids.end() : ids.find(line.substr(space + 1));
      if (left == ids.end() || right == ids.end()) {
        throw InputError(at("merges[" + std::to_string(i) + "]") +
                         ": expected two ordinary tokens separated by a space, found " + quoted_name(line));
      }
      data_.merges.push_back({left->second, right->second});
    }
  }

  void read_special(bool add_bos) {
    data_.end_of_text = gguf_end_of_text(file_, tokens_->size());
    flag("add_eos_token", false, false);
    flag("add_sep_token", false, false);
    if (flag("add_bos_token", add_bos)) {
      const std::string key = std::string(prefix) + "bos_token_id";
      const json id = fields_.has_value(key) ? fields_.at(key) : json();
      if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= tokens_->size()) {
        fields_.refuse(key, "an id below " + std::to_string(tokens_->size()), id);
      }
      data_.prefix.push_back(id.get<std::uint32_t>());
    }
    read_chat();
    // as vocab.json and merges.txt say it: the end of text is an ordinary token, and there is no other one
    const bool plain = data_.added.empty() || data_.added == std::vector<std::uint32_t>{data_.end_of_text};
    if (gguf_is_gpt2() && data_.split == Split::gpt2 && data_.prefix.empty() && plain &&
        std::ranges::none_of(data_.vocabulary, &std::string::empty)) {
      data_.model = TokenizerModel::gpt2;
      data_.added.clear();
    }
  }

  void read_chat() {
    const std::string name = "tokenizer.chat_template";
    const json found = fields_.has_value(name) ? fields_.at(name) : json();
    if (!found.is_string() || found.get_ref<const std::string&>().empty()) {
      return;
    }
    check_limit("chat template bytes", found.get_ref<const std::string&>().size(), file_.name() + ": " + name);
    data_.chat.text = found.get<std::string>();
    constexpr std::array<const char*, 7> keys = {"bos_token_id",       "eos_token_id",     "unknown_token_id",
                                                 "seperator_token_id", "padding_token_id", "cls_token_id",
                                                 "mask_token_id"};  // of the format
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (fields_.has_value(prefix + std::string(keys[i]))) {
        data_.chat.tokens[i] = (*tokens_)[gguf_token(fields_, keys[i], tokens_->size())];
      }
    }
    std::ranges::copy_if(data_.added, std::back_inserter(data_.chat.special),
                         [&](std::uint32_t id) { return (*types_)[id] != user_defined; });
  }

  [[nodiscard]] bool gguf_is_gpt2() const {
    return fields_.has_value("general.architecture") && fields_.at("general.architecture") == "gpt2";
  }

  const GgufFile& file_;
  ConfigFields fields_;
  const std::vector<std::string>* tokens_ = nullptr;
  const std::vector<double>* types_ = nullptr;
  TokenizerData data_;
};

}  // namespace

std::uint32_t gguf_end_of_text(const GgufFile& file, std::size_t vocabulary) {
  return gguf_token(ConfigFields(file.metadata().values, file.name()), "eos_token_id", vocabulary);
}

std::vector<std::uint32_t> gguf_ends(const GgufFile& file, std::size_t vocabulary) {
  const ConfigFields fields(file.metadata().values, file.name());
  std::vector<std::uint32_t> ends;
  for (const char* const name : {"eos_token_id", "eot_token_id"}) {
    if (fields.has_value(prefix + std::string(name))) {
      ends.push_back(gguf_token(fields, name, vocabulary));
    }
  }
  return ends;
}

TokenizerData read_gguf_tokenizer(const GgufFile& file) {
  TokenizerData data = GgufTokenizer(file).read();
  take_ends(data, gguf_ends(file, data.vocabulary.size()), file.name() + ": tokenizer: ");
  check_chat(data, file.name() + ": tokenizer: ");
  check_tokenizer_limits(data, file.name() + ": tokenizer: ");
  require_tokenizer(data, file.name() + ": tokenizer: ");
  return data;
}

}  // namespace tessera
