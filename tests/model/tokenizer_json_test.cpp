#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "model/tokenizer_files.hpp"
#include "tokenizer/words.hpp"

#include "model_files.hpp"

namespace tessera {
namespace {

using nlohmann::json;
using Ids = std::vector<std::uint32_t>;

/// Of the Llama family, whose tokenizers stay what their files call them.
ModelShape shape_of(std::size_t vocabulary) {
  ModelShape shape;
  shape.architecture = Architecture::llama;
  shape.n_vocab = vocabulary;
  return shape;
}

class ReferenceTokenizer : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(best_model_folder(GetParam()) / "tokenizer.json")) {
      GTEST_SKIP() << "the model is not here: " << best_model_folder(GetParam());
    }
    reference_ = json::parse(file_bytes(best_model_folder(GetParam()) / "reference.json"));
    const json config = json::parse(file_bytes(best_model_folder(GetParam()) / "config.json"));
    data_ = load_tokenizer(best_model_folder(GetParam()), shape_of(config["vocab_size"].get<std::size_t>()));
    EXPECT_EQ(data_.end_of_text, config["eos_token_id"].get<std::uint32_t>());
  }
  json reference_;
  TokenizerData data_;
};

TEST_P(ReferenceTokenizer, encodes_and_decodes_as_the_library) {
  const Tokenizer tokenizer(data_);
  ASSERT_EQ(reference_["tokenizer_cases"].size(), 73U);
  std::size_t changed = 0;
  for (const auto& example : reference_["tokenizer_cases"]) {
    const auto text = example["text"].get<std::string>();
    EXPECT_EQ(tokenizer.encode(text), example["ids"].get<Ids>()) << text;
    changed += tokenizer.decode(example["ids"].get<Ids>()) == text ? 0 : 1;
  }
  EXPECT_EQ(changed, data_.normalizer == Normalizer::nfc ? 2U : 0U);  // of 73 texts two are not in NFC
  ASSERT_EQ(reference_["tokenizer_cases_with_special"].size(), 16U);
  for (const auto& example : reference_["tokenizer_cases_with_special"]) {
    const auto text = example["text"].get<std::string>();
    EXPECT_EQ(tokenizer.encode_prompt(text), example["ids"].get<Ids>()) << text;
  }
}

TEST_P(ReferenceTokenizer, evaluation_text_has_the_reference_ids) {
  if (!std::filesystem::exists(evaluation_text(GetParam()))) {
    GTEST_SKIP() << "the text is not here: " << evaluation_text(GetParam());
  }
  const Tokenizer tokenizer(data_);
  const std::string text = file_bytes(evaluation_text(GetParam()));
  const Ids ids = tokenizer.encode(text);
  EXPECT_EQ(tokenizer.decode(ids), text);
  const json expected = reference_["eval"];
  ASSERT_EQ(ids.size(), expected["n_tokens"].get<std::size_t>());
  std::string little_endian;
  for (const std::uint32_t id : ids) {
    little_endian += {static_cast<char>(id & 255U), static_cast<char>(id >> 8U)};
  }
  EXPECT_EQ(sha256_hex(little_endian), expected["all_ids_u16le_sha256"].get<std::string>());
}

TEST_P(ReferenceTokenizer, bytes_that_are_not_utf8_round_trip) {
  const Tokenizer tokenizer(data_);
  for (const std::string text : {"the\xFF the", "\xC3", "\xED\xA0\x80 x", "\xC0\x80"}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ReferenceTokenizer,
                         testing::Values("gutenberg-llama-3m", "odd-qwen-60k", "odd-qwen2-50k"),
                         [](const testing::TestParamInfo<std::string>& tested) {
                           std::string name = tested.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

json added_token(std::uint32_t id, const std::string& content, bool normalized = false) {
  return {{"id", id},        {"content", content},       {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", normalized}, {"special", true}};
}

json prefix_template(const std::string& token, std::uint32_t id) {
  return {
      {"type", "TemplateProcessing"},
      {"single", {{{"SpecialToken", {{"id", token}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
      {"pair", json::array()},
      {"special_tokens", {{token, {{"id", token}, {"ids", {id}}, {"tokens", {token}}}}}}};
}

class TokenizerJson : public testing::Test {
 protected:
  [[nodiscard]] TokenizerData load(std::size_t vocabulary = 300, std::optional<std::uint32_t> end = 2) const {
    write_file(folder_.path() / "tokenizer.json", root_.dump());
    return load_tokenizer(folder_.path(), shape_of(vocabulary), end);
  }
  void expect_refused(const std::string& part) const {
    expect_input_error([&] { (void)load(); }, part);
  }
  /// Refused with this change, which stays for this call alone.
  void expect_refused(const std::string& part, const std::function<void(json&)>& change) {
    const json before = root_;
    change(root_);
    expect_refused(part);
    root_ = before;
  }

  TemporaryFolder folder_;
  json root_;
};

/// Llama 2's form with a handful of tokens: ids 0..2 special, 3..258 bytes.
class SentencePiece : public TokenizerJson {
 protected:
  SentencePiece() {
    json vocabulary = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
    for (unsigned byte = 0; byte < 256; ++byte) {
      std::array<char, 8> name{};
      std::snprintf(name.data(), name.size(), "<0x%02X>", byte);
      vocabulary[name.data()] = 3 + byte;
    }
    std::uint32_t id = 259;
    for (const char* token : {"\u2581", "a", "b", "c", "\u2581a", "bc", "\u2581abc", "\u2581\u2581"}) {
      vocabulary[token] = id++;
    }
    root_ = {{"version", "1.0"},
             {"truncation", nullptr},
             {"padding", nullptr},
             {"added_tokens", {added_token(0, "<unk>"), added_token(1, "<s>"), added_token(2, "</s>")}},
             {"normalizer",
              {{"type", "Sequence"},
               {"normalizers",
                {{{"type", "Prepend"}, {"prepend", "\u2581"}},
                 {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}}}}}},
             {"pre_tokenizer", nullptr},
             {"post_processor", prefix_template("<s>", 1)},
             {"decoder",
              {{"type", "Sequence"},
               {"decoders",
                {{{"type", "Replace"}, {"pattern", {{"String", "\u2581"}}}, {"content", " "}},
                 json{{"type", "ByteFallback"}},
                 json{{"type", "Fuse"}},
                 {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}},
             {"model",
              {{"type", "BPE"},
               {"dropout", nullptr},
               {"unk_token", "<unk>"},
               {"continuing_subword_prefix", nullptr},
               {"end_of_word_suffix", nullptr},
               {"fuse_unk", true},
               {"byte_fallback", true},
               {"vocab", vocabulary},
               {"merges", {"\u2581 a", "b c", "\u2581a bc", "\u2581 \u2581"}}}}};
  }
};

TEST_F(SentencePiece, known_texts) {
  const Tokenizer tokenizer(load());
  const std::vector<std::pair<std::string, Ids>> cases = {{"", {}},
                                                          {"abc", {265}},
                                                          {"a", {263}},
                                                          {" a", {259, 263}},
                                                          {"  ", {266, 259}},
                                                          {"\u00e9", {259, 198, 172}},
                                                          {"a\n", {263, 13}},
                                                          {"abc</s>abc", {265, 2, 265}},
                                                          {"a<", {263, 63}},
                                                          {"cab", {259, 262, 260, 261}},
                                                          {"a bc", {263, 259, 264}},
                                                          {"\xff", {259, 258}}};
  for (const auto& [text, ids] : cases) {
    EXPECT_EQ(tokenizer.encode(text), ids) << text;
    if (text != "abc</s>abc") {
      EXPECT_EQ(tokenizer.decode(ids), text);
    }
  }
  EXPECT_EQ(tokenizer.encode("\u2581a"), (Ids{259, 263}));
  EXPECT_EQ(tokenizer.encode_prompt("abc"), (Ids{1, 265}));
  EXPECT_EQ(tokenizer.decode(Ids{1, 265}), "<s> abc");
  EXPECT_EQ(tokenizer.decode(Ids{265, 2, 265}), "abc</s> abc");
  EXPECT_EQ(tokenizer.decode(Ids{299}), "");  // an id without a token
}

TEST_F(SentencePiece, merges_as_pairs) {
  const TokenizerData texts = load();
  root_["model"]["merges"] = json::array();
  for (const auto& [left, right] : std::vector<std::pair<std::string, std::string>>{
           {"\u2581", "a"}, {"b", "c"}, {"\u2581a", "bc"}, {"\u2581", "\u2581"}}) {
    root_["model"]["merges"].push_back(json::array({left, right}));
  }
  EXPECT_EQ(load(), texts);
}

TEST_F(SentencePiece, merges_look_again_after_each_one) {  // (aa, a) stands before (a, a)
  root_["model"]["vocab"]["aa"] = 267;
  root_["model"]["vocab"]["aaa"] = 268;
  root_["model"]["merges"] = {"aa a", "a a"};
  EXPECT_EQ(Tokenizer(load()).encode("aaaa"), (Ids{259, 268, 260}));
}

TEST_F(SentencePiece, metaspace) {
  root_["normalizer"] = nullptr;
  root_["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "first"}, {"split", false}};
  const Tokenizer first(load());
  EXPECT_EQ(first.encode("abc"), (Ids{265}));
  EXPECT_EQ(first.encode(" a"), (Ids{263}));
  EXPECT_EQ(first.encode("abc</s>abc"), (Ids{265, 2, 260, 264}));
  EXPECT_EQ(first.encode("</s>abc"), (Ids{2, 260, 264}));
  root_["pre_tokenizer"]["prepend_scheme"] = "always";
  EXPECT_EQ(Tokenizer(load()).encode("</s>abc"), (Ids{2, 265}));
  expect_refused("split: expected false", [](json& root) { root["pre_tokenizer"]["split"] = true; });
  expect_refused("prepend_scheme: expected one of",
                 [](json& root) { root["pre_tokenizer"]["prepend_scheme"] = "last"; });
  expect_refused("normalizer: expected none with Metaspace", [](json& root) {
    root["normalizer"] = {{"type", "NFC"}};
  });
}

TEST_F(SentencePiece, normalized_added_tokens_are_found_in_the_normalized_text) {
  root_["added_tokens"].push_back(added_token(267, "<x>", true));
  const Tokenizer tokenizer(load());
  EXPECT_EQ(tokenizer.encode("<x>"), (Ids{267}));
  EXPECT_EQ(tokenizer.encode("a <x>a"), (Ids{263, 267, 260}));
  EXPECT_EQ(tokenizer.encode("a<x>"), (Ids{263, 63, 123, 65}));
}

/// Ids and texts as of the package tokenizers, 0.22.2 and 0.23.3.
TEST_F(SentencePiece, no_space_before_a_text) {
  root_["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\u2581"}};
  expect_refused("decoder: expected Replace, ByteFallback and Fuse");
  root_["decoder"]["decoders"].erase(3);
  const TokenizerData replaced = load();
  root_["pre_tokenizer"] = {
      {"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithPrevious"}, {"invert", false}};
  EXPECT_EQ(load(), replaced);
  expect_refused("normalizer: expected Prepend and Replace", [](json& root) { root["normalizer"] = nullptr; });
  expect_refused("added_tokens[3].normalized: expected false",
                 [](json& root) { root["added_tokens"].push_back(added_token(267, "x y", true)); });
  root_["normalizer"] = nullptr;
  root_["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "never"}, {"split", false}};
  EXPECT_EQ(load(), replaced);
  const Tokenizer tokenizer(replaced);
  const std::vector<std::pair<std::string, Ids>> cases = {{"abc", {260, 264}},
                                                          {"abc</s>abc", {260, 264, 2, 260, 264}},
                                                          {" a", {263}},
                                                          {"a</s> <0x41>", {260, 2, 259, 63, 51, 123, 55, 52, 65}},
                                                          {"</s><0x41>", {2, 63, 51, 123, 55, 52, 65}}};
  for (const auto& [text, ids] : cases) {
    EXPECT_EQ(tokenizer.encode(text), ids) << text;
    EXPECT_EQ(tokenizer.decode(ids), text);
  }
  EXPECT_EQ(tokenizer.encode("\u2581a"), (Ids{263}));
}

TEST_F(SentencePiece, a_word_that_is_the_name_of_a_byte) {
  root_["normalizer"] = nullptr;
  root_["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "first"}, {"split", false}};
  root_["model"]["ignore_merges"] = true;
  const Tokenizer tokenizer(load());
  const std::vector<std::pair<std::string, Ids>> cases = {{"</s><0x41>", {2, 68}},
                                                          {"<0x41>", {259, 63, 51, 123, 55, 52, 65}},
                                                          {"</s><0x4a>", {2, 63, 51, 123, 55, 260, 65}},
                                                          {"</s>bc", {2, 264}},
                                                          {"</s>\u2581abc", {2, 265}}};
  for (const auto& [text, ids] : cases) {
    EXPECT_EQ(tokenizer.encode(text), ids) << text;
  }
}

TEST_F(SentencePiece, white_space_beside_added_tokens) {
  json left = added_token(267, "<l>"), right = added_token(268, "<r>"), both = added_token(269, "<b>");
  json normalized = added_token(271, "<n>", true);
  left["lstrip"] = right["rstrip"] = both["lstrip"] = both["rstrip"] = true;
  normalized["lstrip"] = normalized["rstrip"] = true;
  auto& added = root_["added_tokens"];
  added.insert(added.end(), {left, right, both, added_token(270, "\t"), normalized});
  using Cases = std::vector<std::pair<std::string, Ids>>;
  const auto expect = [&](const Cases& cases) {
    const Tokenizer tokenizer(load());
    for (const auto& [text, ids] : cases) {
      EXPECT_EQ(tokenizer.encode(text), ids) << text;
    }
  };
  expect({{"a <l> a", {263, 267, 259, 263}},
          {"a <r>  a", {263, 259, 268, 263}},
          {"a \u3000<b>\n\u00a0 a", {263, 269, 263}},
          {"<r> \t a", {268, 270, 259, 263}},
          {"<b> <b>", {269, 269}},
          {"a<l>", {263, 267}},
          {"  <l>a", {267, 263}},
          {"<r>  ", {268}},
          {"<r>\t\t<l>\t", {268, 270, 270, 267, 270}},
          {"a <n> a", {263, 271, 263}},
          {"<l>\t<l>", {267, 270, 267}},
          {" <n> ", {259, 271, 259}}});
  root_["normalizer"] = nullptr;
  root_["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "first"}, {"split", false}};
  expect({{"a <l> a", {263, 267, 263}},
          {"a <r>  a", {263, 259, 268, 260}},
          {"  <l>a", {267, 260}},
          {"a <n> a", {263, 271, 260}},
          {" <n> ", {271}}});
}

TEST_F(SentencePiece, what_is_refused) {
  expect_refused("model.type: expected \"BPE\", found \"Unigram\"",
                 [](json& root) { root["model"]["type"] = "Unigram"; });
  expect_refused("found \"WordPiece\"", [](json& root) { root["model"]["type"] = "WordPiece"; });
  expect_refused("dropout: expected one of", [](json& root) { root["model"]["dropout"] = 0.1; });
  expect_refused("end_of_word_suffix", [](json& root) { root["model"]["end_of_word_suffix"] = "</w>"; });
  expect_refused("continuing_subword_prefix", [](json& root) { root["model"]["continuing_subword_prefix"] = "##"; });
  expect_refused("byte_fallback: expected true", [](json& root) { root["model"]["byte_fallback"] = false; });
  expect_refused("byte_fallback", [](json& root) { root["model"].erase("byte_fallback"); });
  expect_refused("field \"x\" is not supported", [](json& root) { root["model"]["x"] = 1; });
  expect_refused("field \"x\" is not supported", [](json& root) { root["x"] = 1; });
  expect_refused("vocab: expected a value", [](json& root) { root["model"].erase("vocab"); });
  expect_refused("model: expected an object", [](json& root) { root["model"] = 3; });
  expect_refused("model: expected a value", [](json& root) { root.erase("model"); });
  expect_refused("byte 65 is missing", [](json& root) { root["model"]["vocab"].erase("<0x41>"); });
  expect_refused("token \"bc\": expected an id below 300", [](json& root) { root["model"]["vocab"]["bc"] = 300; });
  expect_refused("token \"bc\": expected an id below 300", [](json& root) { root["model"]["vocab"]["bc"] = -1; });
  expect_refused("expected an id of its own", [](json& root) { root["model"]["vocab"]["bc"] = 260; });
  expect_refused("without spaces", [](json& root) { root["model"]["vocab"]["b c"] = 280; });
  expect_refused("merges[0]: expected two tokens separated by one space",
                 [](json& root) { root["model"]["merges"][0] = "ab"; });
  expect_refused("merges[0]: expected two tokens separated by one space",
                 [](json& root) { root["model"]["merges"][0] = "a b c"; });
  expect_refused("merges[0]: expected two tokens of the vocabulary",
                 [](json& root) { root["model"]["merges"][0] = "a z"; });
  expect_refused("merges[0]: expected a text or a pair", [](json& root) {
    root["model"]["merges"][0] = {"a", "b", "c"};
  });
  expect_refused("concatenation is a token", [](json& root) { root["model"]["merges"][0] = "a b"; });
  expect_refused("found twice", [](json& root) { root["model"]["merges"][0] = "b c"; });
  expect_refused("concatenation is a token", [](json& root) {  // bytes are no characters
    root["model"]["vocab"]["Ab"] = 280;
    root["model"]["merges"][0] = "<0x41> b";
  });
  expect_refused("normalizer[0].type: expected NFC or NFKC, or Prepend and Replace, found \"Strip\"", [](json& root) {
    root["normalizer"] = {{"type", "Strip"}, {"strip_left", true}};
  });
  expect_refused("normalizer: expected Prepend and Replace", [](json& root) {
    root["normalizer"] = {{"type", "NFC"}};
  });
  expect_refused("normalizer: expected Prepend and Replace", [](json& root) { root["normalizer"] = nullptr; });
  expect_refused("prepend: expected", [](json& root) { root["normalizer"]["normalizers"][0]["prepend"] = "_"; });
  expect_refused("pre_tokenizer[0].type: expected ByteLevel", [](json& root) {
    root["pre_tokenizer"] = {{"type", "Whitespace"}};
  });
  expect_refused("decoder: expected Replace", [](json& root) { root["decoder"]["decoders"].erase(3); });
  expect_refused("decoder: expected Replace", [](json& root) { root["decoder"] = nullptr; });
  expect_refused("added_tokens[1].single_word: expected false",
                 [](json& root) { root["added_tokens"][1]["single_word"] = true; });
  expect_refused("content: expected a text", [](json& root) { root["added_tokens"][1]["content"] = ""; });
  expect_refused("bytes: expected 1 to 128, found 129",
                 [](json& root) { root["added_tokens"].push_back(added_token(280, std::string(129, 'x'))); });
  expect_refused("post_processor[0].type", [](json& root) { root["post_processor"] = {{"type", "BertProcessing"}}; });
  expect_refused("nothing behind it", [](json& root) {
    root["post_processor"]["single"].push_back({{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}});
  });
  expect_refused("special tokens with their ids", [](json& root) { root["post_processor"]["special_tokens"].clear(); });
  expect_refused("the text behind", [](json& root) { root["post_processor"]["single"].erase(1); });
  expect_input_error([&] { (void)load(260); }, "expected an id below 260");
  expect_input_error([&] { (void)load(300, 300); }, "end_of_text: expected below 300");
  EXPECT_NO_THROW((void)load());
}

TEST_F(SentencePiece, end_of_text_is_that_of_the_configuration) {
  const std::filesystem::path config = folder_.path() / "tokenizer_config.json";
  write_file(config, R"({"eos_token": {"content": "</s>", "lstrip": false}})");
  EXPECT_EQ(load(300, {}).end_of_text, 2U);
  write_file(config, R"({"eos_token": "a"})");
  EXPECT_EQ(load(300, {}).end_of_text, 260U);
  write_file(config, R"({"eos_token": "zzz"})");
  expect_input_error([&] { (void)load(267, {}); }, "eos_token: expected a token of the vocabulary, found \"zzz\"");
  EXPECT_EQ(load(300, {}).end_of_text, 267U);  // an added token as transformers adds it
  write_file(config, R"({"eos_token": null})");
  expect_input_error([&] { (void)load(300, {}); }, "expected a token that ends a text");
}

/// GPT-2's tokenizer of odd-40k as a tokenizer.json.
class ByteLevelJson : public TokenizerJson {
 protected:
  ByteLevelJson() {
    json merges = json::array();
    std::istringstream lines(file_bytes(model_folder("odd-40k") / "merges.txt"));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("#version")) {
        merges.push_back(line);
      }
    }
    json vocabulary = json::parse(file_bytes(model_folder("odd-40k") / "vocab.json"));
    end_ = vocabulary["<|endoftext|>"];
    const json level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}};
    root_ = {{"added_tokens", {added_token(end_, "<|endoftext|>")}},
             {"normalizer", nullptr},
             {"pre_tokenizer", level},
             {"post_processor", level},
             {"decoder", level},
             {"model", {{"dropout", nullptr}, {"vocab", vocabulary}, {"merges", merges}}}};
  }
  /// A Sequence of one part and ByteLevel without its pattern.
  void split_with(const json& part, bool regex) {
    const json level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", regex}};
    root_["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {part, level}}};
  }
  static json pattern(std::string_view text) {
    return {{"type", "Split"}, {"pattern", {{"Regex", text}}}, {"behavior", "Isolated"}, {"invert", false}};
  }

  std::uint32_t end_ = 0;
};

TEST_F(ByteLevelJson, gpt2_encodes_as_from_its_own_files) {
  const Tokenizer expected(load_tokenizer(model_folder("odd-40k"), {.n_vocab = 300}));
  const Tokenizer found(load(300, end_));
  EXPECT_EQ(found.data().vocabulary, expected.data().vocabulary);
  EXPECT_EQ(found.data().merges, expected.data().merges);
  const std::string text = file_bytes(model_folder("odd-40k") / "sample.txt") + "<|endoftext|>e\u0301";
  EXPECT_EQ(found.encode(text), expected.encode(text));
}

TEST_F(ByteLevelJson, splits) {
  split_with({{"type", "Digits"}, {"individual_digits", true}}, true);
  EXPECT_EQ(load(300, end_).split, Split::digits);
  split_with(pattern(llama3_pattern), false);
  EXPECT_EQ(load(300, end_).split, Split::llama3);
  split_with(pattern(qwen2_pattern), false);
  EXPECT_EQ(load(300, end_).split, Split::qwen2);
  split_with(pattern(gpt4o_pattern), false);
  EXPECT_EQ(load(300, end_).split, Split::gpt4o);
  split_with(pattern(tekken_pattern), false);
  EXPECT_EQ(load(300, end_).split, Split::tekken);
  split_with(pattern(seed_coder_pattern), false);
  EXPECT_EQ(load(300, end_).split, Split::seed_coder);
  root_["normalizer"] = {{"type", "NFC"}};
  EXPECT_EQ(load(300, end_).normalizer, Normalizer::nfc);
}

TEST_F(ByteLevelJson, what_is_refused) {
  split_with(pattern("\\w+"), false);
  expect_refused("pre_tokenizer[0].pattern: expected one of");
  split_with({{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "Isolated"}, {"invert", false}}, false);
  expect_refused("pattern");
  json behind = pattern(llama3_pattern);
  behind["behavior"] = "Removed";
  split_with(behind, false);
  expect_refused("behavior: expected \"Isolated\"");
  split_with(pattern(llama3_pattern), true);
  expect_refused("pre_tokenizer[1].use_regex: expected false");
  split_with({{"type", "Digits"}, {"individual_digits", false}}, true);
  expect_refused("individual_digits: expected true");
  root_["pre_tokenizer"] = pattern(llama3_pattern);
  expect_refused("a ByteLevel part at the end");
  split_with({{"type", "Digits"}, {"individual_digits", true}}, true);
  root_["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true;
  expect_refused("pre_tokenizer[1].add_prefix_space: expected false");
  root_["pre_tokenizer"] = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  expect_refused("normalizer: expected none, NFC or NFKC", [](json& root) {
    root["normalizer"] = {{"type", "Prepend"}, {"prepend", "\u2581"}};
  });
  expect_refused("found \"Lowercase\"", [](json& root) { root["normalizer"] = {{"type", "Lowercase"}}; });
  expect_refused("byte alphabet", [](json& root) { root["model"]["vocab"]["\u65e5"] = 299; });
  expect_refused("byte_fallback: expected false", [](json& root) { root["model"]["byte_fallback"] = true; });
  expect_refused("decoder: expected ByteLevel", [](json& root) { root["decoder"] = {{"type", "WordPiece"}}; });
  expect_refused("expected ASCII", [](json& root) {
    root["normalizer"] = {{"type", "NFC"}};
    root["model"]["vocab"].erase("<|endoftext|>");
    root["added_tokens"] = {added_token(299, "\u00e9<>", true)};
  });
  EXPECT_NO_THROW((void)load(300, end_));
}

}  // namespace
}  // namespace tessera
