#include <algorithm>
#include <optional>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "model/byte_symbols.hpp"
#include "model/json_file.hpp"
#include "model/json_sections.hpp"
#include "model/tokenizer_files.hpp"
#include "model/tokenizer_pipeline.hpp"
#include "plan/key.hpp"
#include "plan/limits.hpp"
#include "tokenizer/normalize.hpp"

namespace tessera {
namespace {

using nlohmann::json;

constexpr std::uint64_t file_limit = 256U << 20U;
constexpr std::uint64_t config_limit = 16U << 20U;

/// One tokenizer.json: takes its sections in turn.
class TokenizerFile {
 public:
  TokenizerFile(const std::filesystem::path& path, std::size_t vocabulary)
      : name_(path.string()), root_(parse_json_object(read_file(path, file_limit), name_)) {
    // truncation and padding are options of a call, which the library resets
    check_fields(root_, name_, {{"model", {}}},
                 {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
                  "decoder"});
    data_.vocabulary.resize(vocabulary);
  }

  TokenizerData read() {
    read_pre_tokenizer(section("pre_tokenizer"), at("pre_tokenizer"), data_);
    read_normalizer(section("normalizer"), at("normalizer"), data_);
    check_decoder(section("decoder"), at("decoder"), data_);
    read_model();
    read_added();
    read_vocabulary();
    read_merges();
    read_post_processor(section("post_processor"), at("post_processor"), data_);
    return std::move(data_);
  }

  /// The id of an ordinary or an added token.
  [[nodiscard]] std::optional<std::uint32_t> find(const std::string& token) const {
    for (const json& added : section("added_tokens")) {
      if (added["content"] == token) {
        return added["id"].get<std::uint32_t>();
      }
    }
    const json& vocabulary = root_["model"]["vocab"];
    const auto found = vocabulary.find(token);
    return found == vocabulary.end() ? std::nullopt : std::optional(found->get<std::uint32_t>());
  }

 private:
  [[nodiscard]] json section(const char* name) const { return root_.contains(name) ? root_[name] : json(); }
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
    const json list = section("added_tokens");
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
                    {"lstrip", {false}},
                    {"rstrip", {false}},
                    {"normalized", {false, true}}},
                   {"special"});
      if (!list[i]["content"].is_string() || list[i]["content"].get_ref<const std::string&>().empty()) {
        refuse(place + ".content", "a text", list[i]["content"]);
      }
      const std::uint32_t id = id_of(list[i]["id"], data_.vocabulary.size(), place + ".id");
      const auto content = list[i]["content"].get<std::string>();
      const json& vocabulary = root_["model"]["vocab"];
      if (const auto known = vocabulary.find(content); known != vocabulary.end() && *known != id) {
        refuse(place + ".id", shown(*known) + " as in the vocabulary", list[i]["id"]);
      }
      // the library's default for a token without the field is false for special ones only; files always have it
      const bool normalized = list[i].contains("normalized") && list[i]["normalized"].get<bool>();
      set(id, content, place);
      (normalized ? data_.added_normalized : data_.added).push_back(id);
    }
    std::ranges::sort(data_.added);
    std::ranges::sort(data_.added_normalized);
  }

  [[nodiscard]] bool is_added(std::uint32_t id) const {
    return std::ranges::binary_search(data_.added, id) || std::ranges::binary_search(data_.added_normalized, id);
  }

  void read_vocabulary() {
    const bool characters = data_.model == TokenizerModel::byte_fallback;
    std::vector<std::optional<std::uint32_t>> bytes(256);
    for (const auto& [token, value] : root_["model"]["vocab"].items()) {
      const std::string what = at("model.vocab: token ") + quoted_name(token);
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
      const std::string what = at("model.merges[" + std::to_string(data_.merges.size()) + "]");
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

  std::string name_;
  json root_;
  TokenizerData data_;
};

/// eos_token of tokenizer_config.json.
std::string end_token(const std::filesystem::path& path) {
  const json root = parse_json_object(read_file(path, config_limit), path.string());
  json token = root.contains("eos_token") ? root["eos_token"] : json();
  if (token.is_object() && token.contains("content")) {
    token = json(token["content"]);
  }
  if (!token.is_string()) {
    refuse(path.string() + ": eos_token", "a token", token);
  }
  return token.get<std::string>();
}

}  // namespace

TokenizerData load_tokenizer_json(const std::filesystem::path& folder, std::size_t vocabulary,
                                  std::optional<std::uint32_t> end_of_text) {
  const std::filesystem::path path = folder / "tokenizer.json";
  check_limit("n_vocab", vocabulary, path.string() + ": size of the vocabulary");
  TokenizerFile file(path, vocabulary);
  TokenizerData data = file.read();
  if (!end_of_text) {
    const std::filesystem::path config = folder / "tokenizer_config.json";
    const std::string token = end_token(config);
    end_of_text = file.find(token);
    if (!end_of_text) {
      throw InputError(config.string() + ": eos_token: expected a token of tokenizer.json, found " +
                       quoted_name(token));
    }
  }
  data.end_of_text = *end_of_text;
  check_tokenizer_limits(data, path.string() + ": ");
  require_tokenizer(data, path.string() + ": ");
  return data;
}

}  // namespace tessera
