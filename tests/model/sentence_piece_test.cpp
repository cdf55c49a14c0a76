#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenizer_json_fixture.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::uint32_t>;

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
  for (const char* const flag : {"lstrip", "rstrip"}) {
    expect_refused("added_tokens[3].normalized: expected false", [&](json& root) {
      root["added_tokens"].push_back(added_token(267, "<x>", true));
      root["added_tokens"].back()[flag] = true;
    });
  }
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

}  // namespace
}  // namespace tessera::test
