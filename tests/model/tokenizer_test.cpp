#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include "base/errors.hpp"
#include "checkpoints/tokenizer_files.hpp"

#include "model_files.hpp"

namespace tessera::test {
namespace {

using Ids = std::vector<std::uint32_t>;

TokenizerData load(const std::string& model) {
  ModelShape shape;
  shape.n_vocab = nlohmann::json::parse(file_bytes(model_folder(model) / "config.json"))["vocab_size"];
  return load_tokenizer(model_folder(model), shape);
}

class TokenizerCases : public testing::TestWithParam<std::string> {};

TEST_P(TokenizerCases, encode_and_decode_as_the_reference) {
  const Tokenizer tokenizer(load(GetParam()));
  const nlohmann::json cases = reference(GetParam())["tokenizer_cases"];
  ASSERT_EQ(cases.size(), 55U);
  for (const auto& example : cases) {
    const auto text = example["text"].get<std::string>();
    const auto ids = example["ids"].get<Ids>();
    EXPECT_EQ(tokenizer.encode(text), ids) << text;
    EXPECT_EQ(tokenizer.decode(ids), text);
  }
}

TEST_P(TokenizerCases, sample_text_has_the_reference_length) {
  const Tokenizer tokenizer(load(GetParam()));
  const std::string text = file_bytes(model_folder(GetParam()) / "sample.txt");
  const Ids ids = tokenizer.encode(text);
  EXPECT_EQ(ids.size(), reference(GetParam())["sample"]["n_tokens"].get<std::size_t>());
  EXPECT_EQ(tokenizer.decode(ids), text);
}

TEST_P(TokenizerCases, evaluation_text_has_the_reference_ids) {
  const auto path = evaluation_text(GetParam());
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << "the evaluation text is not here: " << path;
  }
  const Tokenizer tokenizer(load(GetParam()));
  const std::string text = file_bytes(path);
  const auto start = std::chrono::steady_clock::now();
  const Ids ids = tokenizer.encode(text);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  RecordProperty("encode_seconds", std::to_string(seconds.count()));
  EXPECT_LT(seconds.count(), 1.0);
  const nlohmann::json expected = reference(GetParam())["eval"];
  ASSERT_EQ(ids.size(), expected["n_tokens"].get<std::size_t>());
  const auto first = expected["first_window_ids"].get<Ids>();
  EXPECT_TRUE(std::equal(first.begin(), first.end(), ids.begin()));
  std::string little_endian;
  for (const std::uint32_t id : ids) {
    little_endian += {static_cast<char>(id & 255U), static_cast<char>(id >> 8U)};
  }
  EXPECT_EQ(sha256_hex(little_endian), expected["all_ids_u16le_sha256"].get<std::string>());
}

TEST_P(TokenizerCases, bytes_that_are_not_utf8_round_trip) {
  const Tokenizer tokenizer(load(GetParam()));
  std::string all;
  for (int byte = 0; byte < 256; ++byte) {
    all.push_back(static_cast<char>(byte));
  }
  for (const std::string& text : {std::string("the\xFF the"), std::string("\xC3"), std::string("\xED\xA0\x80 x"),
                                  std::string("\xF4\x90\x80\x80"), std::string("\xC0\x80"), all, all + all}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
  EXPECT_EQ(tokenizer.encode("the\xFF the").front(), tokenizer.encode("the").front());
}

TEST_P(TokenizerCases, long_words_are_not_quadratic) {
  const Tokenizer tokenizer(load(GetParam()));
  std::string text;
  for (int i = 0; i < 100000; ++i) {
    text += "theine";
  }
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  EXPECT_EQ(tokenizer.encode(std::string(1000000, ' ')).size(), 1000000U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_P(TokenizerCases, unknown_ids_are_refused) {
  const Tokenizer tokenizer(load(GetParam()));
  const Ids ids = {static_cast<std::uint32_t>(tokenizer.data().vocabulary.size())};
  EXPECT_THROW(static_cast<void>(tokenizer.decode(ids)), InputError);
}

INSTANTIATE_TEST_SUITE_P(Models, TokenizerCases, testing::Values("gutenberg-2m", "odd-40k"), model_test_name);

class BadTokenizer : public testing::Test {
 protected:
  BadTokenizer() {
    vocabulary_ = nlohmann::json::parse(file_bytes(model_folder("odd-40k") / "vocab.json"));
    merges_ = file_bytes(model_folder("odd-40k") / "merges.txt");
  }

  void expect_refused(const std::string& part) const {
    write_file(folder_.path() / "vocab.json", vocabulary_.dump());
    write_file(folder_.path() / "merges.txt", merges_);
    expect_input_error([&] { load_tokenizer(folder_.path(), {.n_vocab = 300}); }, part);
  }

  TemporaryFolder folder_;
  nlohmann::json vocabulary_;
  std::string merges_;
};

TEST_F(BadTokenizer, gap_in_the_ids) {
  vocabulary_["he"] = 300;
  expect_refused("id below 300");
}

TEST_F(BadTokenizer, id_twice) {
  vocabulary_["he"] = 5;
  expect_refused("expected an id of its own, found 5");
}

TEST_F(BadTokenizer, id_of_another_type) {
  vocabulary_["he"] = "x";
  expect_refused("\"he\"");
}

TEST_F(BadTokenizer, token_outside_the_byte_alphabet) {
  vocabulary_["\u65e5"] = vocabulary_["he"];
  vocabulary_.erase("he");
  expect_refused("byte alphabet");
}

TEST_F(BadTokenizer, no_end_of_text) {
  vocabulary_["zzzz"] = vocabulary_["<|endoftext|>"];
  vocabulary_.erase("<|endoftext|>");
  expect_refused("vocab.json: expected a token that ends a text");
}

TEST_F(BadTokenizer, missing_byte) {
  vocabulary_["zzzz"] = vocabulary_["A"];
  vocabulary_.erase("A");
  write_file(folder_.path() / "vocab.json", vocabulary_.dump());
  write_file(folder_.path() / "merges.txt", merges_);
  const Tokenizer tokenizer(load_tokenizer(folder_.path(), {.n_vocab = 300}));
  EXPECT_EQ(tokenizer.data().model, TokenizerModel::byte_level);  // GPT-2's own has all bytes
  expect_input_error([&] { (void)tokenizer.encode("A"); }, "byte 65");
}

TEST_F(BadTokenizer, merge_of_unknown_token) {
  merges_ += "zz z\n";
  expect_refused("zz z");
}

TEST_F(BadTokenizer, merge_without_space) {
  merges_ += "he\n";
  expect_refused("separated by one space");
}

TEST_F(BadTokenizer, empty_lines_stand_at_the_end_only) {
  const auto load = [&] {
    write_file(folder_.path() / "vocab.json", vocabulary_.dump());
    write_file(folder_.path() / "merges.txt", merges_);
    return load_tokenizer(folder_.path(), {.n_vocab = 300});
  };
  const TokenizerData expected = load();
  merges_ += "\n\r\n";
  EXPECT_EQ(load(), expected);
  merges_ += "h i\n";
  expect_refused("expected two tokens separated by one space");
}

TEST_F(BadTokenizer, merge_twice) {
  merges_ += "h e\n";
  expect_refused("found twice");
}

TEST_F(BadTokenizer, merge_that_is_not_utf8) {
  merges_ += "h \xFF\n";
  expect_refused("merges.txt");
}

TEST_F(BadTokenizer, not_json) {
  write_file(folder_.path() / "vocab.json", "{\"a\": 1,");
  expect_input_error([&] { load_tokenizer(folder_.path(), {.n_vocab = 300}); }, "not valid JSON");
  write_file(folder_.path() / "vocab.json", "{\"\xFF\": 1}");
  expect_input_error([&] { load_tokenizer(folder_.path(), {.n_vocab = 300}); }, "not valid JSON");
  write_file(folder_.path() / "vocab.json", "{\"a\": 0, \"a\": 1}");
  expect_input_error([&] { load_tokenizer(folder_.path(), {.n_vocab = 300}); }, "duplicate key");
}

}  // namespace
}  // namespace tessera::test
