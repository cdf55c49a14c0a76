#include <gtest/gtest.h>

#include "checkpoints/gguf/splits.hpp"
#include "checkpoints/gguf/tokenizer.hpp"
#include "tokenizer/tokenizer.hpp"
#include "tokenizer/words.hpp"

#include "gguf_builder.hpp"
#include "model_files.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::uint32_t>;

class GgufTokenizer : public testing::Test {
 protected:
  /// Unknown, two control tokens, bytes, pieces with their scores, user-defined tokens.
  void add_pieces(const std::vector<std::string>& pieces, const std::vector<float>& piece_scores,
                  const std::vector<std::string>& user_defined = {}) {
    std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
    std::vector<std::int32_t> types = {2, 3, 3};
    for (unsigned byte = 0; byte < 256; ++byte) {
      char text[8];
      std::snprintf(text, sizeof text, "<0x%02X>", byte);
      tokens.emplace_back(text);
      types.push_back(6);
    }
    std::vector<float> scores(tokens.size(), 0.0F);
    tokens.insert(tokens.end(), pieces.begin(), pieces.end());
    scores.insert(scores.end(), piece_scores.begin(), piece_scores.end());
    types.resize(tokens.size(), 1);
    tokens.insert(tokens.end(), user_defined.begin(), user_defined.end());
    types.resize(tokens.size(), 4);
    scores.resize(tokens.size(), -1000.0F);
    builder_.add_text("tokenizer.ggml.model", "llama");
    builder_.add_texts("tokenizer.ggml.tokens", tokens);
    builder_.add_numbers("tokenizer.ggml.scores", 6, scores);
    add_rest(types, 2);
  }
  /// Bytes and some pieces, merged.
  void add_byte_level(const std::string& pre) {
    std::vector<std::string> tokens = byte_symbols();
    tokens.insert(tokens.end(), {"ab", "<end>"});
    std::vector<std::int32_t> types(tokens.size(), 1);
    types.back() = 3;
    builder_.add_text("tokenizer.ggml.model", "gpt2");
    builder_.add_text("tokenizer.ggml.pre", pre);
    builder_.add_texts("tokenizer.ggml.tokens", tokens);
    builder_.add_texts("tokenizer.ggml.merges", {"a b"});
    add_rest(types, 257);
  }
  [[nodiscard]] TokenizerData read() const {
    const std::filesystem::path path = folder_.path() / "x.gguf";
    write_file(path, builder_.build());
    return read_gguf_tokenizer(GgufFile(path));
  }

  TemporaryFolder folder_;
  GgufBuilder builder_;

 private:
  void add_rest(const std::vector<std::int32_t>& types, std::uint32_t end) {
    builder_.add_numbers("tokenizer.ggml.token_type", 5, types);
    builder_.add_number("tokenizer.ggml.bos_token_id", end == 2 ? 1 : end);
    builder_.add_number("tokenizer.ggml.eos_token_id", end);
  }
  /// GPT-2's alphabet in an order of its own.
  static std::vector<std::string> byte_symbols() {
    std::vector<std::string> symbols;
    unsigned next = 256;
    for (unsigned byte = 0; byte < 256; ++byte) {
      const bool shown = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
      const unsigned code = shown ? byte : next++;
      symbols.push_back(
          code < 128 ? std::string(1, static_cast<char>(code))
                     : std::string{static_cast<char>(0xC0U | code >> 6U), static_cast<char>(0x80U | (code & 63U))});
    }
    return symbols;
  }
};

TEST_F(GgufTokenizer, scores_merge_as_sentencepiece_merges) {
  const json cases = json::parse(file_bytes(std::filesystem::path(TESSERA_SOURCE_DIR) / "tests/gguf/scores.json"));
  ASSERT_EQ(cases.size(), 6U);
  for (const json& vectors : cases) {
    builder_ = {};
    builder_.add_flag("tokenizer.ggml.add_space_prefix", vectors["prefix"].get<bool>());
    add_pieces(vectors["pieces"].get<std::vector<std::string>>(), vectors["scores"].get<std::vector<float>>());
    const TokenizerData data = read();
    EXPECT_EQ(data.model == TokenizerModel::tied_fallback, vectors["tied"].get<bool>());
    const Tokenizer tokenizer(data);
    const auto texts = vectors["texts"].get<std::vector<std::string>>();
    for (std::size_t i = 0; i < texts.size(); ++i) {
      EXPECT_EQ(tokenizer.encode(texts[i]), vectors["ids"][i].get<Ids>()) << texts[i];
      EXPECT_EQ(tokenizer.decode(vectors["ids"][i].get<Ids>()), texts[i]);
    }
  }
}

TEST_F(GgufTokenizer, gemma_cuts_user_defined_tokens_and_puts_no_space_before_a_text) {
  builder_.add_flag("tokenizer.ggml.add_space_prefix", false);
  add_pieces({"\u2581", "a", "b", "\u2581a"}, {-3, -4, -5, -6}, {"\n", "\n\n", "  "});
  const Tokenizer tokenizer(read());
  EXPECT_EQ(tokenizer.data().normalizer, Normalizer::none);
  EXPECT_EQ(tokenizer.encode("a a\n\n\nb"), (Ids{260, 262, 264, 263, 261}));
  EXPECT_EQ(tokenizer.encode("   a"), (Ids{265, 262}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(" a")), " a");
  EXPECT_EQ(tokenizer.encode_prompt("a"), (Ids{1, 260}));
}

TEST_F(GgufTokenizer, names_of_splits) {
  const std::vector<std::string> names = gguf_split_names();
  EXPECT_EQ(names.size(), 66U);
  for (const std::string& name : names) {
    builder_ = {};
    add_byte_level(name);
    const TokenizerData data = read();
    const GgufSplit& expected = gguf_split_of(name);
    EXPECT_EQ(data.split, expected.split) << name;
    EXPECT_EQ(data.normalizer, expected.normalizer) << name;
    EXPECT_EQ(data.ignore_merges, expected.ignore_merges) << name;
    EXPECT_EQ(data.prefix, expected.add_bos ? Ids{257} : Ids{}) << name;
    EXPECT_EQ(Tokenizer(data).encode("ab<end>").size(), 2U) << name;
  }
}

TEST_F(GgufTokenizer, names_that_mean_the_same) {
  const auto expect = [](std::initializer_list<const char*> names, Split split, bool llama3 = false) {
    for (const char* name : names) {
      EXPECT_EQ(gguf_split_of(name).split, split) << name;
      EXPECT_EQ(gguf_split_of(name).ignore_merges, llama3) << name;
      EXPECT_EQ(gguf_split_of(name).add_bos, llama3) << name;
    }
  };
  expect({"llama-bpe", "llama3", "llama-v3", "falcon3", "pixtral"}, Split::llama3, true);
  expect({"dbrx", "smaug-bpe", "glm4"}, Split::llama3);
  expect({"qwen2", "deepseek-r1-qwen", "megrez", "stablelm2", "bailingmoe"}, Split::qwen2);
  expect({"gpt-2", "phi-2", "olmo", "mpt"}, Split::gpt2);
  expect({"smollm", "starcoder", "refact", "command-r", "minerva-7b"}, Split::digits);
  expect({"deepseek-llm"}, Split::deepseek_llm);
  expect({"deepseek-coder"}, Split::deepseek_coder);
  expect({"deepseek-v3"}, Split::deepseek_v3);
  expect({"gpt-4o", "llama4"}, Split::gpt4o);
  expect({"tekken"}, Split::tekken, true);
  EXPECT_EQ(gguf_split_of("deepseek-r1-qwen").normalizer, Normalizer::nfc);
}

}  // namespace
}  // namespace tessera::test
