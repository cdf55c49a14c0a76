#include "checkpoints/tokenizer_json.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/byte_symbols.hpp"
#include "checkpoints/json_sections.hpp"
#include "checkpoints/tokenizer_folder.hpp"
#include "checkpoints/tokenizer_pipeline.hpp"
#include "tokenizer/normalize.hpp"

namespace tessera {
namespace {

using nlohmann::json;

/// One tokenizer.json: takes its sections in turn. `notes` gets a line for each token that is left out.
class TokenizerFile {
 public:
  TokenizerFile(const TokenizerFolder& folder, std::size_t vocabulary, std::vector<std::string>& notes)
      : folder_(folder), name_(folder.name), root_(folder.root), notes_(notes) {
    // truncation and padding are options of a call, which the library resets
    check_fields(root_, name_, {{"model", {}}},
                 {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
                  "decoder"});
    data_.vocabulary.resize(vocabulary);
  }

  TokenizerData read() {
    const bool marks = read_pre_tokenizer(section("pre_tokenizer"), at("pre_tokenizer"), data_);
    read_normalizer(section("normalizer"), at("normalizer"), data_, marks);
    replaced_ = data_.split == Split::whole && data_.normalizer == Normalizer::none && !marks;
    check_decoder(section("decoder"), at("decoder"), data_);
    read_model();
    read_added();
    read_vocabulary();
    read_merges();
    read_prefix();
    read_chat();
    return std::move(data_);
  }

 private:
  [[nodiscard]] const json& section(const char* name) const {
    static const json none;
    const auto found = root_.find(name);
    return found == root_.end() ? none : *found;
  }
  [[nodiscard]] std::string at(const std::string& place) const { return name_ + ": " + place; }

  void read_model() {
    const std::string what = at("model");
    const json& model = root_["model"];
    if (!model.is_object()) {
      refuse(what, "an object", model);
    }
    if (model.contains("type") && model["type"] != "BPE") {
      refuse(what + ".type", "\"BPE\"", model["type"]);
    }
    check_fields(model, what,
                 {{"vocab", {}},
                  {"merges", {}},
                  {"dropout", {nullptr, 0.0}},
                  {"continuing_subword_prefix", {nullptr, ""}},
                  {"end_of_word_suffix", {nullptr, ""}},
                  {"byte_fallback", {data_.model == TokenizerModel::byte_fallback}},
                  {"ignore_merges", {false, true}}},
                 {"unk_token", "fuse_unk"});
    if (data_.model == TokenizerModel::byte_fallback && !model.contains("byte_fallback")) {
      refuse(what, "byte_fallback", nullptr);
    }
    data_.ignore_merges = model.contains("ignore_merges") && model["ignore_merges"].get<bool>();
    if (!model["vocab"].is_object() || !model["merges"].is_array()) {
      throw InputError(what + ": expected an object vocab and a list merges");
    }
  }

  void set(std::uint32_t id, std::string bytes, const std::string& what) {
    if (!data_.vocabulary[id].empty()) {
      throw InputError(what + ": expected an id of its own, found " + std::to_string(id) + ", which is that of " +
                       quoted_name(data_.vocabulary[id]));
    }
    data_.vocabulary[id] = std::move(bytes);
  }

  void read_added() {
    const json& list = section("added_tokens");
    if (!list.is_array() && !list.is_null()) {
      refuse(at("added_tokens"), "a list", list);
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string place = at("added_tokens[" + std::to_string(i) + "]");
      if (!list[i].is_object()) {
        refuse(place, "an object", list[i]);
      }
      check_fields(list[i], place,
                   {{"id", {}},
                    {"content", {}},
                    {"single_word", {false}},
                    {"lstrip", {false, true}},
                    {"rstrip", {false, true}},
                    {"normalized", {false, true}}},
                   {"special"});
      if (!list[i]["content"].is_string() || list[i]["content"].get_ref<const std::string&>().empty()) {
        refuse(place + ".content", "a text", list[i]["content"]);
      }
      read_added(list[i], place);
    }
    for (auto* ids : {&data_.added, &data_.added_normalized, &data_.added_lstrip, &data_.added_rstrip}) {
      std::ranges::sort(*ids);
    }
  }

  void read_added(const json& token, const std::string& place) {
    const auto content = token["content"].get<std::string>();
    if (token["id"].is_number_unsigned() && token["id"].get<std::uint64_t>() >= data_.vocabulary.size()) {
      left_out_.insert(content);
      notes_.push_back("the added token " + quoted_name(content) + " (" + shown(token["id"]) +
                       ") is left out: the model has ids below " + std::to_string(data_.vocabulary.size()));
      return;
    }
    const std::uint32_t id = id_of(token["id"], data_.vocabulary.size(), place + ".id");
    const auto flag = [&](const char* name) { return token.contains(name) && token[name].get<bool>(); };
    set(id, content, place);
    // they would be looked for among marks, which are spaces here
    if (replaced_ && flag("normalized") &&
        (flag("lstrip") || flag("rstrip") || marks_to_spaces(content).find(' ') != std::string::npos)) {
      refuse(place + ".normalized", "false for a token with spaces", true);
    }
    // the library's default for a token without the field is false for special ones only; files always have it
    (flag("normalized") ? data_.added_normalized : data_.added).push_back(id);
    if (flag("lstrip")) {
      data_.added_lstrip.push_back(id);
    }
    if (flag("rstrip")) {
      data_.added_rstrip.push_back(id);
    }
  }

  [[nodiscard]] bool is_added(std::uint32_t id) const {
    return std::ranges::binary_search(data_.added, id) || std::ranges::binary_search(data_.added_normalized, id);
  }

  void read_vocabulary() {
    const bool characters = data_.model == TokenizerModel::byte_fallback;
    std::vector<std::optional<std::uint32_t>> bytes(256);
    for (const auto& [token, value] : root_["model"]["vocab"].items()) {
      if (left_out_.contains(token)) {
        continue;
      }
      const std::string what = folder_.vocabulary + quoted_name(token);
      const std::uint32_t id = id_of(value, data_.vocabulary.size(), what);
      if (is_added(id) && data_.vocabulary[id] == token) {
        continue;
      }
      if (const auto byte = byte_of_token(token); characters && byte) {
        bytes[*byte] = id;
        set(id, std::string(1, static_cast<char>(*byte)), what);
        continue;
      }
      const std::string text = characters ? marks_to_spaces(token) : bytes_of_symbols(token);
      if (text.empty() || (characters && token.find(' ') != std::string::npos)) {
        throw InputError(what + (characters ? ": expected a text without spaces"
                                            : ": expected one or more symbols of GPT-2's byte alphabet"));
      }
      set(id, text, what);
    }
    for (std::size_t byte = 0; characters && byte < bytes.size(); ++byte) {
      if (!bytes[byte]) {
        throw InputError(at("model.vocab: token of the byte ") + std::to_string(byte) + " is missing");
      }
      data_.byte_tokens.push_back(*bytes[byte]);
    }
  }

  void read_merges() {
    const json& vocabulary = root_["model"]["vocab"];
    for (const json& merge : root_["model"]["merges"]) {
      const std::string what = folder_.merges + "[" + std::to_string(data_.merges.size()) + "]";
      std::string left, right;
      if (merge.is_string()) {
        const auto& text = merge.get_ref<const std::string&>();
        const std::size_t space = text.find(' ');
        if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) {
          refuse(what, "two tokens separated by one space", merge);
        }
        left = text.substr(0, space);
        right = text.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        left = merge[0].get<std::string>();
        right = merge[1].get<std::string>();
      } else {
        refuse(what, "a text or a pair of texts", merge);
      }
      const auto left_id = vocabulary.find(left);
      const auto right_id = vocabulary.find(right);
      if (left_id == vocabulary.end() || right_id == vocabulary.end()) {
        refuse(what, "two tokens of the vocabulary", merge);
      }
      data_.merges.push_back({left_id->get<std::uint32_t>(), right_id->get<std::uint32_t>()});
    }
  }

  /// What the template says, or what the folder says in its place.
  void read_prefix() {
    if (!folder_.front) {
      read_post_processor(section("post_processor"), at("post_processor"), data_);
      return;
    }
    TokenizerData written = data_;
    bool same = true;
    try {
      read_post_processor(section("post_processor"), at("post_processor"), written);
    } catch (const InputError&) {
      same = false;
    }
    for (const std::string& token : *folder_.front) {
      const auto id = find_token(root_, token);
      if (!id || *id >= data_.vocabulary.size()) {
        throw InputError(name_ + ": bos_token: expected a token of the vocabulary, found " + quoted_name(token));
      }
      data_.prefix.push_back(*id);
    }
    if (root_.contains("version") && (!same || written.prefix != data_.prefix)) {
      notes_.push_back("prompts begin " +
                       (data_.prefix.empty() ? "without a token" : "with " + quoted_name(folder_.front->front())) +
                       " by tokenizer_class and add_bos_token, not by the template of tokenizer.json: transformers 4 "
                       "does so");
    }
  }

  void read_chat() {
    if (folder_.chat.text.empty()) {
      return;
    }
    data_.chat = folder_.chat;
    for (const json& token : section("added_tokens")) {
      const auto content = token["content"].get<std::string>();
      if (token.value("special", false) && !left_out_.contains(content)) {
        data_.chat.special.push_back(token["id"].get<std::uint32_t>());
      }
    }
    std::ranges::sort(data_.chat.special);
  }

  const TokenizerFolder& folder_;
  const std::string& name_;
  const json& root_;
  std::vector<std::string>& notes_;
  bool replaced_ = false;                        // a normalizer makes marks of spaces and does nothing else
  std::set<std::string, std::less<>> left_out_;  // added tokens beyond the vocabulary
  TokenizerData data_;
};

}  // namespace

TokenizerData read_tokenizer_json(const TokenizerFolder& folder, std::size_t vocabulary,
                                  std::vector<std::string>& notes) {
  return TokenizerFile(folder, vocabulary, notes).read();
}

std::optional<std::uint32_t> find_token(const json& root, const std::string& token) {
  if (const auto list = root.find("added_tokens"); list != root.end()) {
    for (const json& added : *list) {
      if (added["content"] == token) {
        return added["id"].get<std::uint32_t>();
      }
    }
  }
  const json& vocabulary = root["model"]["vocab"];
  const auto found = vocabulary.find(token);
  return found == vocabulary.end() ? std::nullopt : std::optional(found->get<std::uint32_t>());
}

}  // namespace tessera
