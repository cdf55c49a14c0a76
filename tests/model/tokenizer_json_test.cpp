#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenizer/words.hpp"

#include "tokenizer_json_fixture.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::uint32_t>;

class ReferenceTokenizer : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(best_model_folder(GetParam()) / "tokenizer.json")) {
      GTEST_SKIP() << "the model is not here: " << best_model_folder(GetParam());
    }
    reference_ = json::parse(file_bytes(best_model_folder(GetParam()) / "reference.json"));
    const json config = json::parse(file_bytes(best_model_folder(GetParam()) / "config.json"));
    data_ = load_tokenizer(best_model_folder(GetParam()), llama_of(config["vocab_size"].get<std::size_t>()));
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
}  // namespace tessera::test
