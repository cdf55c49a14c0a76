#include "checkpoints/tokenizer_folder.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/json_file.hpp"
#include "checkpoints/json_sections.hpp"
#include "checkpoints/tokenizer_class.hpp"
#include "checkpoints/vocabulary_files.hpp"
#include "plan/limits.hpp"
#include "tokenizer/words.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool flag(const json& object, const char* name, bool absent) {
  const json& value = field(object, name);
  return value.is_boolean() ? value.get<bool>() : absent;
}

/// The text of a token that is written as a text or as an object.
std::optional<std::string> content_of(const json& token) {
  const json& content = token.is_object() ? field(token, "content") : token;
  return content.is_string() && !content.get_ref<const std::string&>().empty()
             ? std::optional(content.get<std::string>())
             : std::nullopt;
}

/// An entry of added_tokens without its id.
json added_entry(const std::string& content, const json& flags, bool normalized, bool special) {
  return {{"content", content},
          {"single_word", flag(flags, "single_word", false)},
          {"lstrip", flag(flags, "lstrip", false)},
          {"rstrip", flag(flags, "rstrip", false)},
          {"normalized", flag(flags, "normalized", normalized)},
          {"special", flag(flags, "special", special)}};
}

class FolderReader {
 public:
  FolderReader(const fs::path& folder, bool gpt2, std::vector<std::string>& notes)
      : folder_(folder),
        notes_(notes),
        settings_(read_optional(folder / "tokenizer_config.json")),
        map_(read_optional(folder / "special_tokens_map.json")),
        config_(read_optional(folder / "config.json")) {
    if (settings_.is_null() && config_.is_null()) {
      class_name_ = gpt2 ? "GPT2Tokenizer" : "";
      return;
    }
    for (const json& source : {settings_, config_}) {
      if (const auto name = content_of(field(source, "tokenizer_class")); name && class_name_.empty()) {
        class_name_ = name->ends_with("Fast") ? name->substr(0, name->size() - 4) : *name;
      }
    }
    if (class_name_.empty() && config_.is_object()) {
      class_name_ = tokenizer_class_of(content_of(field(config_, "model_type")).value_or(""));
    }
  }

  TokenizerFolder read() {
    const bool file = fs::exists(folder_ / "tokenizer.json");
    file ? read_tokenizer_json() : read_vocabulary_files();
    if (!has_good_tokens()) {
      return std::move(result_);  // the reader says what is wrong
    }
    number_tokens();
    if (settings_.is_null() && config_.is_null() && file) {
      take_chat();
      return std::move(result_);
    }
    if (flag(settings_, "split_special_tokens", false)) {
      refuse(setting("split_special_tokens"), "false: special tokens are cut out of texts", true);
    }
    if (flag(settings_, "add_eos_token", false) && (tokenizer_class(class_name_).adds_bos || !file)) {
      refuse(setting("add_eos_token"), "false: nothing stands behind a prompt", true);
    }
    take_prefix_space();
    add_tokens();
    if (tokenizer_class(class_name_).adds_bos && token("bos_token")) {
      result_.front.emplace();
      if (flag(settings_, "add_bos_token", !has_setting("add_bos_token"))) {
        result_.front->push_back(*token("bos_token"));
      }
    }
    take_end();
    take_chat();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::string setting(const char* name) const {
    return (folder_ / "tokenizer_config.json").string() + ": " + name;
  }
  [[nodiscard]] bool has_setting(const char* name) const { return settings_.is_object() && settings_.contains(name); }

  /// A special token by its name: null if it is said that there is none.
  [[nodiscard]] json named(const std::string& name) const {
    if (!has_setting("added_tokens_decoder") && map_.is_object() && map_.contains(name)) {
      return map_[name];
    }
    if (has_setting(name.c_str())) {
      return settings_[name];
    }
    const auto& defaults = tokenizer_class(class_name_).tokens;
    const auto found = defaults.find(name);
    return found == defaults.end() ? json() : json(found->second);
  }
  [[nodiscard]] std::optional<std::string> token(const std::string& name) const { return content_of(named(name)); }

  void read_tokenizer_json() {
    const fs::path path = folder_ / "tokenizer.json";
    result_.name = path.string();
    result_.vocabulary = result_.name + ": model.vocab: token ";
    result_.merges = result_.name + ": model.merges";
    result_.root = parse_json_object(read_file(path, tokenizer_file_limit), result_.name);
    compare_vocabulary_files(folder_, result_.root, notes_);
  }

  void read_vocabulary_files() {
    const fs::path path = folder_ / "vocab.json";
    const bool qwen2 = class_name_ == "Qwen2Tokenizer";
    if (!fs::exists(path) || (!qwen2 && class_name_ != "GPT2Tokenizer")) {
      throw InputError(folder_.string() + ": expected tokenizer.json, found " +
                       (fs::exists(folder_ / "tokenizer.model") ? "tokenizer.model"
                        : fs::exists(path)                      ? "vocab.json of another tokenizer than GPT-2's"
                                                                : "none") +
                       ": AutoTokenizer.from_pretrained and save_pretrained of transformers write one");
    }
    result_.name = path.string();
    result_.vocabulary = result_.name + ": token ";
    result_.merges = (folder_ / "merges.txt").string() + ": merge";
    const json byte_level = {
        {"type", "ByteLevel"}, {"add_prefix_space", flag(settings_, "add_prefix_space", false)}, {"use_regex", !qwen2}};
    json& root = result_.root;
    root = {{"added_tokens", json::array()},
            {"normalizer", qwen2 ? json{{"type", "NFC"}} : json()},
            {"pre_tokenizer", byte_level},
            {"post_processor", nullptr},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model",
             {{"type", "BPE"},
              {"vocab", parse_json_object(read_file(path, tokenizer_file_limit), result_.name)},
              {"merges", read_merge_lines(folder_ / "merges.txt")}}}};
    if (qwen2) {
      const json split = {
          {"type", "Split"}, {"pattern", {{"Regex", qwen2_pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
      root["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, byte_level}}};
    } else if (flag(settings_, "add_bos_token", false) && token("bos_token")) {
      result_.front = {*token("bos_token")};
    }
  }

  /// A ByteLevel pre-tokenizer has the add_prefix_space of tokenizer_config.json, not its own.
  void take_prefix_space() {
    json& section = result_.root["pre_tokenizer"];
    const json written = field(section, "add_prefix_space");
    if (tokenizer_class(class_name_).adds_bos || !written.is_boolean() || field(section, "type") != "ByteLevel" ||
        (has_setting("add_prefix_space") && !settings_["add_prefix_space"].is_boolean())) {
      return;
    }
    const bool said = flag(settings_, "add_prefix_space", false);
    if (said != written.get<bool>()) {
      section["add_prefix_space"] = said;
      notes_.push_back(std::string("add_prefix_space of tokenizer_config.json (") + (said ? "true" : "false") +
                       (has_setting("add_prefix_space") ? "" : ", which is its default") +
                       ") is taken, that of tokenizer.json is not: transformers does so");
    }
  }

  /// Gives a token its id, or its flags if it is there: what the vocabulary has keeps its id, others follow.
  void add(const json& entry) {
    json& list = result_.root["added_tokens"];
    const auto content = entry["content"].get<std::string>();
    if (const auto known = places_.find(content); known != places_.end()) {
      list[known->second].update(entry);
      return;
    }
    const json& vocabulary = result_.root["model"]["vocab"];
    const auto found = vocabulary.find(content);
    const json id = found != vocabulary.end() ? *found : json(std::max<std::uint64_t>(next_, vocabulary.size()));
    if (id.is_number_unsigned()) {
      next_ = std::max(next_, id.get<std::uint64_t>() + 1);
    }
    places_[content] = list.size();
    list.push_back(entry);
    list.back()["id"] = id;
  }

  /// The added tokens of tokenizer.json, which the library numbers anew when it reads them.
  void number_tokens() {
    json& root = result_.root;
    const json written = field(root, "added_tokens");
    root["added_tokens"] = json::array();
    for (const json& token : written) {
      add(token);
      const json& id = root["added_tokens"][places_[token["content"].get<std::string>()]]["id"];
      if (id != field(token, "id")) {
        notes_.push_back("the added token " + quoted_name(token["content"].get<std::string>()) + " has the id " +
                         shown(id) + ", which the library gives it, not " + shown(field(token, "id")));
      }
    }
  }

  [[nodiscard]] bool has_good_tokens() const {
    const json& model = field(result_.root, "model");
    const json& list = field(result_.root, "added_tokens");
    return field(model, "vocab").is_object() && (list.is_array() || list.is_null()) &&
           std::ranges::all_of(list, [](const json& token) { return token.is_object() && content_of(token); });
  }

  /// Tokens that transformers adds to those of tokenizer.json, in its order.
  void add_tokens() {
    const std::vector<json> special = special_tokens();
    for (const auto& [id, entry] : listed_tokens(special)) {
      add(entry);
    }
    for (const json& token : special) {
      const std::string content = *content_of(token);
      if (!places_.contains(content)) {
        add(added_entry(content, token, false, true));
      }
    }
  }

  [[nodiscard]] std::vector<json> special_tokens() const {
    std::vector<json> tokens;
    for (const char* name :
         {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}) {
      tokens.push_back(named(name));
    }
    for (const char* name : {"additional_special_tokens", "extra_special_tokens"}) {
      for (const json& token : named(name)) {
        tokens.push_back(token);
      }
    }
    std::erase_if(tokens, [](const json& token) { return !content_of(token); });
    return tokens;
  }

  /// Tokens of added_tokens_decoder or, without it, of added_tokens.json, by id.
  [[nodiscard]] std::map<std::uint64_t, json> listed_tokens(const std::vector<json>& special) const {
    std::map<std::uint64_t, json> tokens;
    if (has_setting("added_tokens_decoder")) {
      for (const auto& [key, token] : settings_["added_tokens_decoder"].items()) {
        std::uint64_t id = 0;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
        if (error != std::errc() || end != key.data() + key.size() || !content_of(token) || !token.is_object()) {
          refuse(setting("added_tokens_decoder"), "ids and tokens", json{{key, token}});
        }
        tokens[id] = added_entry(*content_of(token), token, !flag(token, "special", false), false);
      }
      return tokens;
    }
    const fs::path path = folder_ / "added_tokens.json";
    const json added = read_optional(path);
    for (const auto& [content, id] : added.items()) {
      if (!id.is_number_unsigned() || content.empty()) {
        refuse(path.string() + ": " + quoted_name(content), "an id", id);
      }
      const bool is_special =
          std::ranges::any_of(special, [&](const json& token) { return content_of(token) == content; });
      if (!places_.contains(content)) {
        tokens[id.get<std::uint64_t>()] = added_entry(content, json(), !is_special, is_special);
      }
    }
    return tokens;
  }

  void take_end() {
    result_.end_token = token("eos_token");
    if (!has_setting("added_tokens_decoder") && !field(map_, "eos_token").is_null()) {
      result_.end_file = (folder_ / "special_tokens_map.json").string();
    } else if (!field(settings_, "eos_token").is_null()) {
      result_.end_file = (folder_ / "tokenizer_config.json").string();
    }
    const json id = field(config_, "eos_token_id");
    result_.end_id = id.is_array() && !id.empty() ? id.front() : id;
  }

  /// chat_template.jinja or, without it, chat_template of tokenizer_config.json: a text, or a list of named ones of
  /// which "default" is taken.
  void take_chat() {
    const fs::path path = folder_ / "chat_template.jinja";
    std::string text;
    if (fs::exists(path)) {
      text = read_file(path, tokenizer_file_limit);
    } else if (const json& said = field(settings_, "chat_template"); said.is_string()) {
      text = said.get<std::string>();
    } else {
      for (const json& named : said) {
        if (field(named, "name") == "default" && field(named, "template").is_string()) {
          text = field(named, "template").get<std::string>();
        }
      }
    }
    if (text.size() > max_chat_template) {
      notes_.push_back("the chat template is left out: it has " + std::to_string(text.size()) + " bytes, keys up to " +
                       std::to_string(max_chat_template));
      text.clear();
    }
    if (text.empty()) {
      return;
    }
    result_.chat.text = std::move(text);
    for (std::size_t i = 0; i < chat_token_names.size(); ++i) {
      result_.chat.tokens[i] = token(std::string(chat_token_names[i])).value_or("");
    }
  }

  fs::path folder_;
  std::vector<std::string>& notes_;
  json settings_, map_, config_;
  std::string class_name_;
  TokenizerFolder result_;
  std::map<std::string, std::size_t> places_;  // text of an added token -> its place in the list
  std::uint64_t next_ = 0;                     // above the ids of added tokens
};

}  // namespace

TokenizerFolder read_tokenizer_folder(const fs::path& folder, bool gpt2, std::vector<std::string>& notes) {
  return FolderReader(folder, gpt2, notes).read();
}

}  // namespace tessera
