#include "checkpoints/tokenizer_pipeline.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "checkpoints/json_sections.hpp"
#include "tokenizer/normalize.hpp"
#include "tokenizer/words.hpp"

namespace tessera {

using nlohmann::json;

namespace {

using Values = std::vector<json>;

constexpr std::string_view space_mark = "\u2581";
/// A pre-tokenizer of words that end behind a space, where no space is left.
json space_split() {
  return {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}};
}

/// Splits by one pattern.
struct PatternSplit {
  std::string_view pattern;
  Split split;
};
constexpr PatternSplit pattern_splits[] = {{llama3_pattern, Split::llama3},
                                           {qwen2_pattern, Split::qwen2},
                                           {gpt4o_pattern, Split::gpt4o},
                                           {tekken_pattern, Split::tekken},
                                           {seed_coder_pattern, Split::seed_coder}};

std::vector<json> known_patterns() {
  std::vector<json> patterns;
  for (const PatternSplit& known : pattern_splits) {
    patterns.push_back(json{{"Regex", known.pattern}});
  }
  return patterns;
}

void read_template(const json& part, const std::string& what, TokenizerData& data) {
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
      data.prefix.push_back(id_of(id, data.vocabulary.size(), what + ".special_tokens"));
    }
  }
  if (!text) {
    refuse(what + ".single", "the text behind the special tokens", part["single"]);
  }
}

/// `first`: of the parts; `regex`: whether it splits by GPT-2's pattern.
void read_byte_level(const json& part, const std::string& place, bool first, bool regex, TokenizerData& data) {
  check_fields(part, place, {{"add_prefix_space", first ? Values{false, true} : Values{false}}, {"use_regex", {regex}}},
               {"trim_offsets"});
  if (!part.contains("add_prefix_space") || (!regex && !part.contains("use_regex"))) {
    refuse(place, "add_prefix_space and use_regex", part);
  }
  if (part["add_prefix_space"] == true) {
    data.split = Split::gpt2_spaced;
  }
}

}  // namespace

bool read_pre_tokenizer(const json& section, const std::string& what, TokenizerData& data) {
  const std::vector<json> parts = sequence_of(section, "pretokenizers", what);
  data.model = parts.empty() ? TokenizerModel::byte_fallback : TokenizerModel::byte_level;
  data.split = parts.empty() ? Split::whole : Split::gpt2;
  bool done = parts.empty();
  bool marks = false;
  bool regex = true;  // of ByteLevel: GPT-2's pattern
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string place = what + "[" + std::to_string(i) + "]";
    const std::string type = type_of(parts[i], place);
    if (done) {
      refuse(place, "no further part", type);
    } else if (type == "ByteLevel") {
      read_byte_level(parts[i], place, i == 0, regex, data);
      done = true;
    } else if (parts.size() == 1 && parts[i] == space_split()) {  // a normalizer leaves no space
      data.model = TokenizerModel::byte_fallback;
      data.split = Split::whole;
      done = true;
    } else if (type == "Split" && i == 0) {
      check_fields(parts[i], place, {{"pattern", known_patterns()}, {"behavior", {"Isolated"}}, {"invert", {false}}});
      if (!parts[i].contains("pattern")) {
        refuse(place, "a pattern", parts[i]);
      }
      data.split = std::ranges::find_if(pattern_splits, [&](const PatternSplit& known) {
                     return parts[i]["pattern"]["Regex"] == known.pattern;
                   })->split;
      regex = false;
    } else if (type == "Digits" && i == 0) {
      check_fields(parts[i], place, {{"individual_digits", {true}}});
      data.split = Split::digits;
    } else if (type == "Metaspace" && i == 0) {
      check_fields(
          parts[i], place,
          {{"replacement", {space_mark}}, {"prepend_scheme", {"first", "always", "never"}}, {"split", {false}}},
          {"add_prefix_space"});
      if (!parts[i].contains("prepend_scheme") || !parts[i].contains("split")) {
        refuse(place, "prepend_scheme and split", parts[i]);
      }
      data.model = TokenizerModel::byte_fallback;
      data.split = parts[i]["prepend_scheme"] == "first"    ? Split::metaspace_first
                   : parts[i]["prepend_scheme"] == "always" ? Split::metaspace_always
                                                            : Split::whole;
      done = marks = true;
    } else {
      refuse(place + ".type", "ByteLevel, alone or behind Split or Digits, or Metaspace", type);
    }
  }
  if (!done) {
    refuse(what, "a ByteLevel part at the end", section);
  }
  return marks;
}

void read_normalizer(const json& section, const std::string& what, TokenizerData& data, bool marks) {
  const std::vector<json> parts = sequence_of(section, "normalizers", what);
  std::vector<std::string> types;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string place = what + "[" + std::to_string(i) + "]";
    types.push_back(type_of(parts[i], place));
    if (types.back() == "NFC" || types.back() == "NFKC") {
      check_fields(parts[i], place, {});
    } else if (types.back() == "Prepend") {
      check_fields(parts[i], place, {{"prepend", {space_mark}}});
    } else if (types.back() == "Replace") {
      check_fields(parts[i], place, {{"pattern", {json{{"String", " "}}}}, {"content", {space_mark}}});
    } else {
      refuse(place + ".type", "NFC or NFKC, or Prepend and Replace", types.back());
    }
  }
  using Types = std::vector<std::string>;
  const bool bytes = data.model == TokenizerModel::byte_level;
  if (bytes && (types == Types{"NFC"} || types == Types{"NFKC"})) {
    data.normalizer = types.front() == "NFC" ? Normalizer::nfc : Normalizer::nfkc;
    return;
  }
  const bool replaced = data.split == Split::whole && !marks;
  if (replaced && types == Types{"Prepend", "Replace"}) {
    data.normalizer = Normalizer::prepend_space;
  } else if (replaced ? types != Types{"Replace"} : !types.empty()) {
    refuse(what,
           bytes      ? "none, NFC or NFKC for byte-level BPE"
           : replaced ? "Prepend and Replace, or Replace alone, where there is no Metaspace"
                      : "none with Metaspace",
           section);
  }
}

void check_decoder(const json& section, const std::string& what, const TokenizerData& data) {
  const std::vector<json> parts = sequence_of(section, "decoders", what);
  std::vector<json> expected = {{{"type", "Replace"}, {"pattern", {{"String", space_mark}}}, {"content", " "}},
                                {{"type", "ByteFallback"}},
                                {{"type", "Fuse"}},
                                {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}};
  const bool unspaced = data.split == Split::whole && data.normalizer == Normalizer::none;
  if (unspaced) {
    expected.pop_back();
  }
  if (data.model == TokenizerModel::byte_level) {
    if (parts.size() != 1 || type_of(parts[0], what) != "ByteLevel") {
      refuse(what, "ByteLevel", section);
    }
  } else if (parts != expected) {
    refuse(what,
           std::string("Replace, ByteFallback") +
               (unspaced ? " and Fuse: no space stands before a text" : ", Fuse and Strip of the space before a text"),
           section);
  }
}

void read_post_processor(const json& section, const std::string& what, TokenizerData& data) {
  const std::vector<json> parts = sequence_of(section, "processors", what);
  bool template_seen = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string place = what + "[" + std::to_string(i) + "]";
    const std::string type = type_of(parts[i], place);
    if (type == "TemplateProcessing" && !template_seen) {
      template_seen = true;
      read_template(parts[i], place, data);
    } else if (type != "ByteLevel") {  // which changes offsets alone
      refuse(place + ".type", "ByteLevel or one TemplateProcessing", type);
    }
  }
}

}  // namespace tessera
