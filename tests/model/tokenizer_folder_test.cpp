#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tokenizer_folder_fixture.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::uint32_t>;
using testing::ElementsAre;
using testing::HasSubstr;

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

TEST_F(TokenizerFolderTest, files_that_say_the_same_in_another_form) {
  root_["added_tokens"].push_back(folder_token(300, "<x>"));
  for (json& merge : root_["model"]["merges"]) {
    const auto text = merge.get<std::string>();
    merge = {text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1)};
  }
  put("tokenizer.json", root_);
  json vocabulary = root_["model"]["vocab"];
  const auto notes_of = [&](const json& written) {
    put("vocab.json", written);
    (void)load(301);
    return notes_;
  };
  const std::string other = "tokenizer.json is taken, vocab.json is not: it has other tokens";
  EXPECT_THAT(notes_of(vocabulary), ElementsAre());
  vocabulary["<x>"] = 300;  // an added token, which the list says
  EXPECT_THAT(notes_of(vocabulary), ElementsAre());
  vocabulary["<x>"] = 7;
  EXPECT_THAT(notes_of(vocabulary), ElementsAre(other));
  vocabulary.erase("<x>");
  vocabulary["<y>"] = 300;
  EXPECT_THAT(notes_of(vocabulary), ElementsAre(other));
  vocabulary.erase("<y>");
  vocabulary.erase("!");
  EXPECT_THAT(notes_of(vocabulary), ElementsAre(other));
  put("vocab.json", root_["model"]["vocab"]);
  const std::string merges = file_bytes(folder_.path() / "merges.txt");
  write_file(folder_.path() / "merges.txt", merges + "a b c\n");
  (void)load(301);
  EXPECT_THAT(notes_, ElementsAre("tokenizer.json is taken, merges.txt is not: it cannot be read"));
  remove("tokenizer.json");
  for (const char* const bad : {"a b c\n", "ab\n", "a \xff\n"}) {
    write_file(folder_.path() / "merges.txt", merges + bad);
    expect_refused("expected two tokens separated by one space");
  }
  write_file(folder_.path() / "merges.txt", "#version: 0.2\n#version: 0.2\n" + merges);  // one line says the version
  expect_refused("merge[0]: expected two tokens of the vocabulary, found \"#version: 0.2\"");
}

TEST_F(TokenizerFolderTest, merges_that_gpt2_would_do_in_another_order) {
  EXPECT_EQ(load().model, TokenizerModel::gpt2);
  json& merges = root_["model"]["merges"];
  const auto made = [&](std::size_t i) {
    std::string text = merges[i].get<std::string>();
    return text.erase(text.find(' '), 1);
  };
  const std::string used = made(0) + ' ';  // a merge that takes what the first one makes comes before it
  const auto user = std::ranges::find_if(
      merges, [&](const json& merge) { return merge.get_ref<const std::string&>().starts_with(used); });
  ASSERT_NE(user, merges.end());
  std::swap(merges[0], *user);
  put("tokenizer.json", root_);
  EXPECT_EQ(load().model, TokenizerModel::byte_level);
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
  put("special_tokens_map.json", {{"eos_token", "<end>"}});
  expect_refused("special_tokens_map.json: eos_token: expected a token of the vocabulary, found \"<end>\"");
  put("tokenizer_config.json", {{"eos_token", "<end>"}, {"added_tokens_decoder", json::object()}});
  expect_refused("tokenizer_config.json: eos_token: expected a token of the vocabulary, found \"<end>\"");
  EXPECT_EQ(load(301).end_of_text, 300U);
}

TEST_F(TokenizerFolderTest, ends_are_those_of_generation_config_or_config) {
  EXPECT_THAT(load().ends, ElementsAre());
  config_["eos_token_id"] = json::array({0, 1});
  EXPECT_THAT(load().ends, ElementsAre(0, 1));
  put("generation_config.json", {{"eos_token_id", {70, 5, 70}}});  // in any order, perhaps twice
  EXPECT_THAT(load().ends, ElementsAre(0, 5, 70));                 // and the end of text
  EXPECT_EQ(load().end_of_text, 0U);
  put("generation_config.json", {{"eos_token_id", 0}});
  EXPECT_THAT(load().ends, ElementsAre());
  for (const json& nothing : {json::object(), json{{"eos_token_id", nullptr}}, json{{"eos_token_id", json::array()}}}) {
    put("generation_config.json", nothing);
    EXPECT_THAT(load().ends, ElementsAre(0, 1));
  }
  for (const json& bad : {json(300), json({1, 300}), json(-1), json("</s>"), json({json::array({1})})}) {
    put("generation_config.json", {{"eos_token_id", bad}});
    expect_refused("generation_config.json: eos_token_id: expected an id below 300");
  }
  std::vector<int> many(65);
  std::iota(many.begin(), many.end(), 0);
  put("generation_config.json", {{"eos_token_id", many}});
  expect_refused("ends: end tokens: expected 2 to 64, found 65");
}

TEST_F(TokenizerFolderTest, the_chat_template) {
  EXPECT_EQ(load().chat, ChatTemplate());
  json settings = {{"chat_template", "{{ messages }}"}};
  put("tokenizer_config.json", settings);
  const ChatTemplate chat = load().chat;
  EXPECT_EQ(chat.text, "{{ messages }}");
  EXPECT_THAT(chat.special, ElementsAre(load().end_of_text));
  EXPECT_EQ(chat.tokens[1], load().vocabulary[load().end_of_text]);  // eos_token
  settings["chat_template"] = {{{"name", "tools"}, {"template", "a"}}, {{"name", "default"}, {"template", "b"}}};
  put("tokenizer_config.json", settings);
  EXPECT_EQ(load().chat.text, "b");
  write_file(folder_.path() / "chat_template.jinja", "of its own file");
  EXPECT_EQ(load().chat.text, "of its own file");
  write_file(folder_.path() / "chat_template.jinja", "\xff");
  expect_refused("chat_template: expected UTF-8, found other bytes at 0");
  write_file(folder_.path() / "chat_template.jinja", std::string((1U << 17U) + 1, 'a'));
  EXPECT_EQ(load().chat, ChatTemplate());
  EXPECT_THAT(notes_, testing::Contains(HasSubstr("the chat template is left out: it has 131073 bytes")));
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
  EXPECT_EQ(with({{"tokenizer_class", "LlamaTokenizer"}, {"add_bos_token", nullptr}}), (Ids{83, 257}));
  EXPECT_EQ(with({{"tokenizer_class", "PreTrainedTokenizerFast"}, {"add_bos_token", true}}), (Ids{83, 257}));
  EXPECT_EQ(with({{"tokenizer_class", "GPT2Tokenizer"}, {"add_bos_token", true}}), (Ids{83, 257}));
  put("tokenizer_config.json", {{"tokenizer_class", "LlamaTokenizer"}, {"add_eos_token", true}});
  expect_refused("add_eos_token: expected false");
  put("tokenizer_config.json", {{"tokenizer_class", "LlamaTokenizer"}, {"eos_token", "<|endoftext|>"}});
  expect_refused("bos_token: expected a token of the vocabulary, found \"<s>\"");
}

TEST_F(TokenizerFolderTest, no_configuration_of_a_qwen_tokenizer) {
  be_llama("qwen2");
  root_["added_tokens"].push_back(folder_token(300, "<pad>"));
  put("tokenizer.json", root_);
  EXPECT_EQ(load().end_of_text, 299U);
  EXPECT_EQ(encode("<pad>the"), (Ids{27, 79, 64, 67, 29, 83, 257}));
  EXPECT_THAT(notes_, ElementsAre("the added token \"<pad>\" (300) is left out: the model has ids below 300"));
}

TEST_F(TokenizerFolderTest, vocabulary_files_of_a_qwen_tokenizer) {
  put("tokenizer_config.json", {{"tokenizer_class", "Qwen2Tokenizer"}, {"eos_token", "<|endoftext|>"}});
  config_["model_type"] = "qwen2";
  const TokenizerData data = load();
  EXPECT_EQ(data.split, Split::qwen2);
  EXPECT_EQ(data.normalizer, Normalizer::nfc);
  EXPECT_EQ(Tokenizer(data).encode("e\u0301"), (Ids{127, 102}));
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
}  // namespace tessera::test
