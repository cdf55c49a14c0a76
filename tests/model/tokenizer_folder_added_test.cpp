#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tokenizer_folder_fixture.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::uint32_t>;
using testing::ElementsAre;

TEST_F(TokenizerFolderTest, a_padding_token_that_transformers_saved) {
  root_["added_tokens"].push_back(folder_token(300, "[PAD]"));
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
  root_["model"]["vocab"]["[PAD]"] = 300;  // both places name it
  put("tokenizer.json", root_);
  EXPECT_EQ(encode("a[PAD]b"), (Ids{64, 58, 47, 32, 35, 60, 65}));
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
        {{"pad_token", "[PAD]"}, {"added_tokens_decoder", {{"299", folder_token(299, "<|endoftext|>", true)}}}});
    put("special_tokens_map.json", {{"pad_token", "<p>"}});  // not read beside a list of added tokens
    EXPECT_EQ(encode("[PAD]<p>", 320), (Ids{300, 27, 79, 29}));
    put("tokenizer_config.json", {{"pad_token", "[PAD]"}});
    EXPECT_EQ(encode("[PAD]<p>", 320), (Ids{58, 47, 32, 35, 60, 300}));
    remove("special_tokens_map.json");
  }
  put("tokenizer_config.json", {{"extra_special_tokens", {{"image_token", "<i>"}}}});
  EXPECT_EQ(encode("<i>", 320), (Ids{300}));
  const auto listed = [&](const char* id) {
    put("tokenizer_config.json",
        {{"added_tokens_decoder",
          {{id, folder_token(300, "<x>")}, {"299", folder_token(299, "<|endoftext|>", true)}}}});
  };
  listed("300");
  EXPECT_EQ(encode("a<x>", 320), (Ids{64, 300}));
  listed("x");
  expect_refused("tokenizer_config.json: added_tokens_decoder: expected ids and tokens");
  put("tokenizer_config.json", json::object());
  put("added_tokens.json", {{"<x>", 300}, {"<y>", 301}});
  EXPECT_EQ(encode("<y><x>", 320), (Ids{301, 300}));
  put("added_tokens.json", {{"<x>", "300"}});
  expect_refused("added_tokens.json: \"<x>\": expected an id");
}

TEST_F(TokenizerFolderTest, the_library_numbers_added_tokens) {
  root_["added_tokens"].push_back(folder_token(310, "<x>"));
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

TEST_F(TokenizerFolderTest, white_space_beside_added_tokens) {
  json left = folder_token(300, "<l>"), right = folder_token(301, "<r>"), both = folder_token(302, "<b>", true);
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

}  // namespace
}  // namespace tessera::test
