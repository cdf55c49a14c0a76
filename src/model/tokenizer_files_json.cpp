#include <algorithm>
#include <charconv>
#include <optional>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "model/byte_symbols.hpp"
#include "model/json_file.hpp"
#include "model/tokenizer_files.hpp"
#include "plan/key.hpp"
#include "plan/limits.hpp"
#include "tokenizer/normalize.hpp"
#include "tokenizer/words.hpp"

namespace tessera {
namespace {

using nlohmann::json;

constexpr std::uint64_t file_limit = 256U << 20U;
constexpr std::uint64_t config_limit = 16U << 20U;
constexpr std::string_view space_mark = "\u2581";

std::string shown(const json& value) {
  return one_line(value.dump(-1, ' ', false, json::error_handler_t::replace), 120);
}

[[noreturn]] void refuse(const std::string& what, const std::string& expected, const json& found) {
  throw InputError(what + ": expected " + expected + ", found " + shown(found));
}

/// A field of an object and the values that it may have, any if there are none here; a field that the object lacks has
/// the first, and must be there if there are none.
struct Field {
  const char* name;
  std::vector<json> values;
};
using Fields = std::vector<Field>;

/// The object has no other fields than these and `type`, with such values. Ignored ones have the name of a field only.
void check_fields(const json& object, const std::string& what, const Fields& fields,
                  const std::vector<std::string_view>& ignored = {}) {
  for (const auto& [name, value] : object.items()) {
    const bool known = name == "type" || std::ranges::find(ignored, name) != ignored.end() ||
                       std::ranges::find(fields, name, &Field::name) != fields.end();
    if (!known) {
      throw InputError(what + ": field " + quoted_name(name) + " is not supported, found " + shown(value));
    }
  }
  for (const auto& [name, values] : fields) {
    if (!object.contains(name)) {
      if (values.empty()) {
        throw InputError(what + "." + name + ": expected a value, found none");
      }
    } else if (!values.empty() && std::ranges::find(values, object[name]) == values.end()) {
      refuse(what + "." + name,
             (values.size() > 1 ? "one of " : "") + shown(values.size() > 1 ? json(values) : values[0]), object[name]);
    }
  }
}

std::string type_of(const json& part, const std::string& what) {
  if (!part.is_object() || !part.contains("type") || !part["type"].is_string()) {
    refuse(what, "an object with a type", part);
  }
  return part["type"].get<std::string>();
}

/// The parts of a Sequence, whose field is called `list`; of null none, else the part itself.
std::vector<json> sequence_of(const json& part, const char* list, const std::string& what) {
  if (part.is_null()) {
    return {};
  }
  if (type_of(part, what) != "Sequence") {
    return {part};
  }
  check_fields(part, what, {{list, {}}});
  if (!part[list].is_array()) {
    refuse(what + "." + list, "a list", part[list]);
  }
  return part[list].get<std::vector<json>>();
}

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
    read_pre_tokenizer();
    read_normalizer();
    read_decoder();
    read_model();
    read_added();
    read_vocabulary();
    read_merges();
    read_post_processor();
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

  void read_pre_tokenizer() {
    const std::string what = at("pre_tokenizer");
    const std::vector<json> parts = sequence_of(section("pre_tokenizer"), "pretokenizers", what);
    data_.model = parts.empty() ? TokenizerModel::byte_fallback : TokenizerModel::byte_level;
    data_.split = parts.empty() ? Split::whole : Split::gpt2;
    bool done = parts.empty();
    bool regex = true;  // of ByteLevel: GPT-2's pattern
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string place = what + "[" + std::to_string(i) + "]";
      const std::string type = type_of(parts[i], place);
      if (done) {
        refuse(place, "no further part", type);
      } else if (type == "ByteLevel") {
        check_fields(parts[i], place, {{"add_prefix_space", {false}}, {"use_regex", {regex}}}, {"trim_offsets"});
        if (!parts[i].contains("add_prefix_space") || (!regex && !parts[i].contains("use_regex"))) {
          refuse(place, "add_prefix_space and use_regex", parts[i]);
        }
        done = true;
      } else if (type == "Split" && i == 0) {
        check_fields(parts[i], place,
                     {{"pattern", {json{{"Regex", llama3_pattern}}, json{{"Regex", qwen2_pattern}}}},
                      {"behavior", {"Isolated"}},
                      {"invert", {false}}});
        if (!parts[i].contains("pattern")) {
          refuse(place, "a pattern", parts[i]);
        }
        data_.split = parts[i]["pattern"]["Regex"] == llama3_pattern ? Split::llama3 : Split::qwen2;
        regex = false;
      } else if (type == "Digits" && i == 0) {
        check_fields(parts[i], place, {{"individual_digits", {true}}});
        data_.split = Split::digits;
      } else if (type == "Metaspace" && i == 0) {
        check_fields(parts[i], place,
                     {{"replacement", {space_mark}}, {"prepend_scheme", {"first", "always"}}, {"split", {false}}},
                     {"add_prefix_space"});
        if (!parts[i].contains("prepend_scheme") || !parts[i].contains("split")) {
          refuse(place, "prepend_scheme and split", parts[i]);
        }
        data_.model = TokenizerModel::byte_fallback;
        data_.split = parts[i]["prepend_scheme"] == "first" ? Split::metaspace_first : Split::metaspace_always;
        done = true;
      } else {
        refuse(place + ".type", "ByteLevel, alone or behind Split or Digits, or Metaspace", type);
      }
    }
    if (!done) {
      refuse(what, "a ByteLevel part at the end", section("pre_tokenizer"));
    }
  }

  void read_normalizer() {
    const std::string what = at("normalizer");
    const std::vector<json> parts = sequence_of(section("normalizer"), "normalizers", what);
    std::vector<std::string> types;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string place = what + "[" + std::to_string(i) + "]";
      types.push_back(type_of(parts[i], place));
      if (types.back() == "NFC") {
        check_fields(parts[i], place, {});
      } else if (types.back() == "Prepend") {
        check_fields(parts[i], place, {{"prepend", {space_mark}}});
      } else if (types.back() == "Replace") {
        check_fields(parts[i], place, {{"pattern", {json{{"String", " "}}}}, {"content", {space_mark}}});
      } else {
        refuse(place + ".type", "NFC, or Prepend and Replace", types.back());
      }
    }
    using Types = std::vector<std::string>;
    const bool bytes = data_.model == TokenizerModel::byte_level;
    if (bytes && types == Types{"NFC"}) {
      data_.normalizer = Normalizer::nfc;
    } else if (data_.split == Split::whole && types == Types{"Prepend", "Replace"}) {
      data_.normalizer = Normalizer::prepend_space;
    } else if (!types.empty() || data_.split == Split::whole) {
      refuse(what,
             bytes                         ? "none or NFC for byte-level BPE"
             : data_.split == Split::whole ? "Prepend and Replace where there is no pre_tokenizer"
                                           : "none with Metaspace",
             section("normalizer"));
    }
  }

  /// Decoding is the inverse of encoding: nothing of the file decides how it is done.
  void read_decoder() const {
    const std::string what = at("decoder");
    const std::vector<json> parts = sequence_of(section("decoder"), "decoders", what);
    std::vector<json> expected = {{{"type", "Replace"}, {"pattern", {{"String", space_mark}}}, {"content", " "}},
                                  {{"type", "ByteFallback"}},
                                  {{"type", "Fuse"}},
                                  {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}};
    if (data_.model == TokenizerModel::byte_level) {
      if (parts.size() != 1 || type_of(parts[0], what) != "ByteLevel") {
        refuse(what, "ByteLevel", section("decoder"));
      }
    } else if (parts != expected) {
      refuse(what, "Replace, ByteFallback, Fuse and Strip of the space before a text", section("decoder"));
    }
  }

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

  /// The id of a token, below the vocabulary's size.
  std::uint32_t id_of(const json& value, const std::string& what) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= data_.vocabulary.size()) {
      refuse(what, "an id below " + std::to_string(data_.vocabulary.size()), value);
    }
    return value.get<std::uint32_t>();
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
      const std::uint32_t id = id_of(list[i]["id"], place + ".id");
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

  /// The number of <0xNN>.
  static std::optional<std::uint8_t> byte_of(std::string_view token) {
    std::uint8_t byte = 0;
    if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') {
      return std::nullopt;
    }
    const std::string_view digits = token.substr(3, 2);
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), byte, 16);
    const bool lower = std::ranges::any_of(digits, [](char c) { return c >= 'a'; });  // the library looks for %02X
    return error == std::errc() && end == digits.end() && !lower ? std::optional(byte) : std::nullopt;
  }

  void read_vocabulary() {
    const bool characters = data_.model == TokenizerModel::byte_fallback;
    std::vector<std::optional<std::uint32_t>> bytes(256);
    for (const auto& [token, value] : root_["model"]["vocab"].items()) {
      const std::string what = at("model.vocab: token ") + quoted_name(token);
      const std::uint32_t id = id_of(value, what);
      if (is_added(id) && data_.vocabulary[id] == token) {
        continue;
      }
      if (const auto byte = byte_of(token); characters && byte) {
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

  void read_post_processor() {
    const std::string what = at("post_processor");
    const std::vector<json> parts = sequence_of(section("post_processor"), "processors", what);
    bool template_seen = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::string place = what + "[" + std::to_string(i) + "]";
      const std::string type = type_of(parts[i], place);
      if (type == "TemplateProcessing" && !template_seen) {
        template_seen = true;
        read_template(parts[i], place);
      } else if (type != "ByteLevel") {  // which changes offsets alone
        refuse(place + ".type", "ByteLevel or one TemplateProcessing", type);
      }
    }
  }

  void read_template(const json& part, const std::string& what) {
    check_fields(part, what, {{"single", {}}, {"special_tokens", {}}}, {"pair"});
    if (!part["single"].is_array() || !part["special_tokens"].is_object()) {
      throw InputError(what + ": expected a list single and an object special_tokens");
    }
    bool text = false;
    for (const json& piece : part["single"]) {
      if (text || !piece.is_object() || piece.size() != 1 || !piece.begin()->is_object() ||
          !piece.begin()->contains("id") || !(*piece.begin())["id"].is_string()) {
        refuse(what + ".single", "special tokens, then the text, and nothing behind it", part["single"]);
      }
      const auto name = (*piece.begin())["id"].get<std::string>();
      if (piece.begin().key() == "Sequence" && name == "A") {
        text = true;
        continue;
      }
      const json& tokens = part["special_tokens"];
      if (piece.begin().key() != "SpecialToken" || !tokens.contains(name) || !tokens[name].is_object() ||
          !tokens[name].contains("ids") || !tokens[name]["ids"].is_array()) {
        refuse(what + ".single", "special tokens with their ids, then the text", piece);
      }
      for (const json& id : tokens[name]["ids"]) {
        data_.prefix.push_back(id_of(id, what + ".special_tokens"));
      }
    }
    if (!text) {
      refuse(what + ".single", "the text behind the special tokens", part["single"]);
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
  try {
    const Tokenizer checked(data);
  } catch (const InputError& error) {
    throw InputError(path.string() + ": " + error.what());
  }
  return data;
}

}  // namespace tessera
