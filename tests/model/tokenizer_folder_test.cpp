#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "model/tokenizer_files.hpp"

#include "model_files.hpp"

namespace tessera {
namespace {

using nlohmann::json;
using Ids = std::vector<std::uint32_t>;
using Notes = std::vector<std::string>;
using testing::ElementsAre;
using testing::HasSubstr;

json token(std::uint32_t id, const std::string& content, bool normalized = false) {
  return {{"id", id},        {"content", content},       {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", normalized}, {"special", true}};
}

/// Files of odd-40k, a GPT-2, and a tokenizer.json that says the same. Ids of texts are those that AutoTokenizer of
/// transformers 4.57.1 and 5.24.0 finds; where the two differ, those of 4.57.1.
class TokenizerFolderTest : public testing::Test {
 protected:
  TokenizerFolderTest() {
    config_ = json::parse(file_bytes(model_folder("odd-40k") / "config.json"));
    for (const char* name : {"vocab.json", "merges.txt"}) {
      std::filesystem::copy(model_folder("odd-40k") / name, folder_.path() / name);
    }
    json merges = json::array();
    std::istringstream lines(file_bytes(model_folder("odd-40k") / "merges.txt"));
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with('#')) {
        merges.push_back(line);
      }
    }
    const json level = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
    root_ = {{"version", "1.0"},
             {"truncation", nullptr},
             {"padding", nullptr},
             {"added_tokens", {token(299, "<|endoftext|>", true)}},
             {"normalizer", nullptr},
             {"pre_tokenizer", level},
             {"post_processor", level},
             {"decoder", level},
             {"model",
              {{"type", "BPE"},
               {"vocab", json::parse(file_bytes(model_folder("odd-40k") / "vocab.json"))},
               {"merges", merges}}}};
  }
  void put(const std::string& name, const json& value) const { write_file(folder_.path() / name, value.dump()); }
  void remove(const std::string& name) const { std::filesystem::remove(folder_.path() / name); }
  TokenizerData load(std::size_t vocabulary = 300) {
    put("config.json", config_);
    notes_.clear();
    ModelShape shape;
    shape.n_vocab = vocabulary;
    shape.architecture = config_["model_type"] == "gpt2" ? Architecture::gpt2 : Architecture::llama;
    return load_tokenizer(folder_.path(), shape, {}, &notes_);
  }
  Ids encode(const std::string& text, std::size_t vocabulary = 300) {
    return Tokenizer(load(vocabulary)).encode_prompt(text);
  }
  void expect_refused(const std::string& part) {
    expect_input_error([&] { (void)load(); }, part);
  }
  /// A tokenizer.json of the Llama family in place of GPT-2's files.
  void be_llama(const std::string& model_type) {
    config_["model_type"] = model_type;
    remove("vocab.json");
    remove("merges.txt");
    root_["post_processor"] = nullptr;
    put("tokenizer.json", root_);
  }

  TemporaryFolder folder_;
  json config_, root_;
  Notes notes_;
};

TEST_F(TokenizerFolderTest, a_tokenizer_json_that_says_the_same_changes_nothing) {
  const TokenizerData own = load();
  EXPECT_EQ(own.model, TokenizerModel::gpt2);
  EXPECT_EQ(own.end_of_text, 299U);
  put("tokenizer.json", root_);
  EXPECT_EQ(load(), own);
  EXPECT_THAT(notes_, ElementsAre());
  remove("vocab.json");
  remove("merges.txt");
  EXPECT_EQ(load(), own);
}

TEST_F(TokenizerFolderTest, tokenizer_json_decides) {
  root_["model"]["merges"].erase(root_["model"]["merges"].size() - 1);  // l e
  put("tokenizer.json", root_);
  EXPECT_EQ(encode("le"), (Ids{75, 68}));
  EXPECT_THAT(notes_, ElementsAre("tokenizer.json is taken, merges.txt is not: it has other merges"));
  put("vocab.json", {{"a", 0}});
  EXPECT_EQ(encode("le"), (Ids{75, 68}));
  EXPECT_THAT(notes_, ElementsAre("tokenizer.json is taken, vocab.json is not: it has other tokens",
                                  "tokenizer.json is taken, merges.txt is not: it has other merges"));
  write_file(folder_.path() / "vocab.json", "{");
  EXPECT_EQ(encode("le"), (Ids{75, 68}));
  EXPECT_THAT(notes_.front(), HasSubstr("vocab.json is not: it cannot be read"));
}

TEST_F(TokenizerFolderTest, the_prefix_space_of_the_configuration_is_taken) {
  root_["pre_tokenizer"]["add_prefix_space"] = true;
  put("tokenizer.json", root_);
  EXPECT_EQ(encode("the man"), (Ids{83, 257, 274, 291}));  // nothing says it: false
  EXPECT_THAT(notes_,
              ElementsAre(HasSubstr("add_prefix_space of tokenizer_config.json (false, which is its default)")));
  put("tokenizer_config.json", {{"add_prefix_space", true}, {"tokenizer_class", "GPT2TokenizerFast"}});
  EXPECT_EQ(encode("the man"), (Ids{262, 274, 291}));
  EXPECT_THAT(notes_, ElementsAre());
  const Tokenizer tokenizer(load());
  EXPECT_EQ(tokenizer.data().model, TokenizerModel::byte_level);
  EXPECT_EQ(tokenizer.encode("The old man, and she said"),
            (Ids{220, 51, 257, 264, 75, 67, 274, 291, 11, 275, 260, 257, 260, 64, 72, 67}));
  EXPECT_EQ(tokenizer.encode(" the"), (Ids{262}));
  EXPECT_EQ(tokenizer.encode("\tthe"), (Ids{220, 197, 83, 257}));
  EXPECT_EQ(tokenizer.encode("a<|endoftext|>the<|endoftext|> the"), (Ids{258, 299, 262, 299, 262}));
  EXPECT_EQ(tokenizer.encode(""), (Ids{}));
  EXPECT_EQ(tokenizer.encode("\u00e9"), (Ids{220, 127, 102}));
  EXPECT_EQ(tokenizer.encode("\xff"), (Ids{220, 187}));  // a byte that the library cannot take
  root_["pre_tokenizer"]["add_prefix_space"] = false;
  put("tokenizer.json", root_);
  EXPECT_EQ(encode("the man"), (Ids{262, 274, 291}));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("add_prefix_space of tokenizer_config.json (true) is taken")));
}

TEST_F(TokenizerFolderTest, vocabulary_files_with_settings) {
  put("tokenizer_config.json", {{"add_prefix_space", true}});
  EXPECT_EQ(encode("the man"), (Ids{262, 274, 291}));
  EXPECT_EQ(encode("a<|endoftext|>the"), (Ids{258, 299, 262}));
  put("tokenizer_config.json", {{"add_bos_token", true}});
  EXPECT_EQ(encode("the man"), (Ids{299, 83, 257, 274, 291}));
  put("tokenizer.json", root_);  // whose template is not replaced
  EXPECT_EQ(encode("the man"), (Ids{83, 257, 274, 291}));
  EXPECT_EQ(load().model, TokenizerModel::gpt2);
  remove("tokenizer.json");
  put("tokenizer_config.json", {{"model_max_length", 1024}});  // all that GPT-2's own says
  EXPECT_EQ(load().model, TokenizerModel::gpt2);
  put("tokenizer_config.json", {{"add_eos_token", true}});
  expect_refused("tokenizer_config.json: add_eos_token: expected false");
  put("tokenizer_config.json", {{"split_special_tokens", true}});
  expect_refused("tokenizer_config.json: split_special_tokens: expected false");
}

TEST_F(TokenizerFolderTest, a_padding_token_that_transformers_saved) {
  root_["added_tokens"].push_back(token(300, "[PAD]"));
  put("tokenizer.json", root_);
  put("added_tokens.json", {{"[PAD]", 300}});
  const std::vector<std::pair<std::string, Ids>> cases = {
      {"the man", {83, 257, 274, 291}},
      {"a[PAD]b", {64, 300, 65}},
      {"", {}},
      {"caf\u00e9 \U0001f642", {66, 64, 69, 127, 102, 220, 172, 253, 247, 224}}};
  const Tokenizer tokenizer(load(301));
  EXPECT_THAT(notes_, ElementsAre());
  for (const auto& [text, ids] : cases) {
    EXPECT_EQ(tokenizer.encode(text), ids) << text;
  }
  EXPECT_EQ(encode("a[PAD]b"), (Ids{64, 58, 47, 32, 35, 60, 65}));  // the model has no row for it
  EXPECT_THAT(notes_, ElementsAre("the added token \"[PAD]\" (300) is left out: the model has ids below 300"));
  EXPECT_EQ(load().model, TokenizerModel::gpt2);
}

TEST_F(TokenizerFolderTest, tokens_that_transformers_adds_itself) {
  for (const bool file : {true, false}) {
    if (file) {
      put("tokenizer.json", root_);
    } else {
      remove("tokenizer.json");
    }
    put("tokenizer_config.json", {{"pad_token", "[PAD]"}, {"additional_special_tokens", {"<a>", "he"}}});
    EXPECT_EQ(encode("a[PAD]<a>the", 320), (Ids{64, 300, 301, 83, 257}));  // a special token, which the vocabulary has
    put("tokenizer_config.json",
        {{"pad_token", "[PAD]"}, {"added_tokens_decoder", {{"299", token(299, "<|endoftext|>", true)}}}});
    put("special_tokens_map.json", {{"pad_token", "<p>"}});  // not read beside a list of added tokens
    EXPECT_EQ(encode("[PAD]<p>", 320), (Ids{300, 27, 79, 29}));
    put("tokenizer_config.json", {{"pad_token", "[PAD]"}});
    EXPECT_EQ(encode("[PAD]<p>", 320), (Ids{58, 47, 32, 35, 60, 300}));
    remove("special_tokens_map.json");
  }
  put("tokenizer_config.json", json::object());
  put("added_tokens.json", {{"<x>", 300}, {"<y>", 301}});
  EXPECT_EQ(encode("<y><x>", 320), (Ids{301, 300}));
}

TEST_F(TokenizerFolderTest, the_library_numbers_added_tokens) {
  root_["added_tokens"].push_back(token(310, "<x>"));
  put("tokenizer.json", root_);
  EXPECT_EQ(encode("<x>", 320), (Ids{300}));
  EXPECT_THAT(notes_, ElementsAre("the added token \"<x>\" has the id 300, which the library gives it, not 310"));
}

TEST_F(TokenizerFolderTest, padded_vocabularies) {
  const TokenizerData data = load(320);
  EXPECT_EQ(data.model, TokenizerModel::byte_level);  // GPT-2's own has no ids without tokens
  EXPECT_EQ(data.vocabulary.size(), 320U);
  EXPECT_EQ(Tokenizer(data).encode("the man<|endoftext|>"), (Ids{83, 257, 274, 291, 299}));
  put("tokenizer.json", root_);
  EXPECT_EQ(load(320).vocabulary, data.vocabulary);
}

TEST_F(TokenizerFolderTest, the_end_of_text) {
  put("tokenizer_config.json", {{"eos_token", nullptr}});
  EXPECT_EQ(load().end_of_text, 299U);  // by config.json
  config_["eos_token_id"] = json::array({0, 1});
  EXPECT_EQ(load().end_of_text, 0U);
  config_.erase("eos_token_id");
  expect_refused(
      "expected a token that ends a text: eos_token in tokenizer_config.json or eos_token_id in config.json");
  remove("tokenizer_config.json");
  EXPECT_EQ(load().end_of_text, 299U);  // by GPT-2's class of tokenizers
  put("special_tokens_map.json", {{"eos_token", {{"content", "!"}, {"lstrip", false}}}});
  EXPECT_EQ(load().end_of_text, 0U);
  put("tokenizer_config.json", {{"eos_token", "<end>"}, {"added_tokens_decoder", json::object()}});
  expect_refused("tokenizer_config.json: eos_token: expected a token of the vocabulary, found \"<end>\"");
  EXPECT_EQ(load(301).end_of_text, 300U);
}

TEST_F(TokenizerFolderTest, white_space_beside_added_tokens) {
  json left = token(300, "<l>"), right = token(301, "<r>"), both = token(302, "<b>", true);
  left["lstrip"] = right["rstrip"] = both["lstrip"] = both["rstrip"] = true;
  root_["added_tokens"].insert(root_["added_tokens"].end(), {left, right, both});
  put("tokenizer.json", root_);
  const Tokenizer tokenizer(load(303));
  const std::vector<std::pair<std::string, Ids>> cases = {{"the <l> the", {83, 257, 300, 262}},
                                                          {"the <r> the", {83, 257, 220, 301, 83, 257}},
                                                          {"the \u3000<b>\n\u00a0 the", {83, 257, 302, 83, 257}},
                                                          {"<r>\t\t<l>the", {301, 300, 83, 257}},
                                                          {"<b> <b>", {302, 302}},
                                                          {"the<l>", {83, 257, 300}}};
  for (const auto& [text, ids] : cases) {
    EXPECT_EQ(tokenizer.encode(text), ids) << text;
  }
  root_["added_tokens"][1]["single_word"] = true;
  put("tokenizer.json", root_);
  expect_refused("added_tokens[1].single_word: expected false");
}

TEST_F(TokenizerFolderTest, compatibility_composition) {
  root_["normalizer"] = {{"type", "NFKC"}};
  put("tokenizer.json", root_);
  const Tokenizer tokenizer(load());
  const std::vector<std::pair<std::string, Ids>> cases = {
      {"\ufb01n", {69, 259}},
      {"\u2460\u00b2", {16, 17}},
      {"e\u0301", {127, 102}},
      {"\uff34\uff48\uff45", {51, 257}},
      {"a\u00a0the", {64, 262}},
      {"\u1100\u1161\u11a8", {166, 108, 223}},
      {"\ufdfa", {148, 113, 149, 226, 149, 231, 220, 148, 100, 149, 226, 149, 226, 149, 229, 220, 148,
                  117, 149, 226, 149, 232, 149, 229, 220, 149, 230, 148, 111, 149, 226, 149, 227}},
      {"\u212b", {127, 227}},
      {"x\u0323\u0307", {157, 118, 233, 136, 96}}};
  for (const auto& [text, ids] : cases) {
    EXPECT_EQ(tokenizer.encode(text), ids) << text;
  }
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("\ufb01n")), "fin");
  root_["normalizer"] = {{"type", "NFKD"}};
  put("tokenizer.json", root_);
  expect_refused("normalizer[0].type: expected NFC or NFKC");
}

TEST_F(TokenizerFolderTest, a_class_that_puts_a_token_in_front) {
  be_llama("llama");
  const json names = {{"bos_token", "<|endoftext|>"}, {"eos_token", "<|endoftext|>"}, {"unk_token", "<|endoftext|>"}};
  const auto with = [&](json settings) {
    settings.update(names);
    put("tokenizer_config.json", settings);
    return encode("the");
  };
  EXPECT_EQ(with({{"tokenizer_class", "LlamaTokenizerFast"}, {"add_bos_token", true}}), (Ids{299, 83, 257}));
  EXPECT_THAT(notes_,
              ElementsAre(HasSubstr("prompts begin with \"<|endoftext|>\" by tokenizer_class and add_bos_token")));
  EXPECT_EQ(with({{"tokenizer_class", "LlamaTokenizer"}}), (Ids{299, 83, 257}));
  EXPECT_EQ(with(json::object()), (Ids{299, 83, 257}));  // by the type of model
  EXPECT_EQ(with({{"tokenizer_class", "LlamaTokenizer"}, {"add_bos_token", false}}), (Ids{83, 257}));
  EXPECT_THAT(notes_, ElementsAre());
  EXPECT_EQ(with({{"tokenizer_class", "PreTrainedTokenizerFast"}, {"add_bos_token", true}}), (Ids{83, 257}));
  EXPECT_EQ(with({{"tokenizer_class", "GPT2Tokenizer"}, {"add_bos_token", true}}), (Ids{83, 257}));
  put("tokenizer_config.json", {{"tokenizer_class", "LlamaTokenizer"}, {"add_eos_token", true}});
  expect_refused("add_eos_token: expected false");
  put("tokenizer_config.json", {{"tokenizer_class", "LlamaTokenizer"}, {"eos_token", "<|endoftext|>"}});
  expect_refused("bos_token: expected a token of the vocabulary, found \"<s>\"");
}

TEST_F(TokenizerFolderTest, no_configuration_of_a_qwen_tokenizer) {
  be_llama("qwen2");
  root_["added_tokens"].push_back(token(300, "<pad>"));
  put("tokenizer.json", root_);
  EXPECT_EQ(load().end_of_text, 299U);
  EXPECT_EQ(encode("<pad>the"), (Ids{27, 79, 64, 67, 29, 83, 257}));
  EXPECT_THAT(notes_, ElementsAre("the added token \"<pad>\" (300) is left out: the model has ids below 300"));
}

TEST_F(TokenizerFolderTest, other_tokenizers_are_named) {
  remove("vocab.json");
  expect_refused("expected tokenizer.json, found none");
  write_file(folder_.path() / "tokenizer.model", "x");
  expect_refused("expected tokenizer.json, found tokenizer.model: AutoTokenizer.from_pretrained");
  config_["model_type"] = "llama";
  put("vocab.json", json::object());
  remove("tokenizer.model");
  expect_refused("found vocab.json of another tokenizer than GPT-2's");
}

}  // namespace
}  // namespace tessera
