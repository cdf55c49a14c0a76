#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::test {
namespace {

using Ids = std::vector<std::uint32_t>;

/// Bytes, then a, b, space and pieces of them, of one rank if they are tied.
class Ties : public testing::Test {
 protected:
  Ties() {
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      data.vocabulary.emplace_back(1, static_cast<char>(byte));
      data.byte_tokens.push_back(byte);
    }
    data.vocabulary.insert(data.vocabulary.end(), {"a", "b", " ", "ab", "ba", "aba"});
    data.merges = {{256, 257}, {257, 256}, {259, 256}, {256, 260}};
    data.model = TokenizerModel::tied_fallback;
    data.split = Split::whole;
    data.normalizer = Normalizer::none;
    data.tied = {1};
  }
  void expect_refused(const std::string& part) const {
    try {
      const Tokenizer tokenizer(data);
      FAIL() << part;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
  TokenizerData data;
};

TEST_F(Ties, the_leftmost_of_equal_rank_comes_first) {
  const Tokenizer tied(data);
  EXPECT_EQ(tied.encode("bab"), (Ids{260, 257}));
  EXPECT_EQ(tied.encode("abab"), (Ids{259, 259}));
  EXPECT_EQ(tied.encode("baab"), (Ids{260, 259}));
  data.model = TokenizerModel::byte_fallback;
  data.tied.clear();
  EXPECT_EQ(Tokenizer(data).encode("bab"), (Ids{257, 259}));  // the lower rank instead
}

TEST_F(Ties, belong_to_their_model) {
  data.tied = {};
  expect_refused("tied: expected merges of equal rank of BPE with byte fallback and ties, found 0");
  data.tied = {0};
  expect_refused("tied: expected ascending numbers from 1 to below 4, found 0");
  data.tied = {4};
  expect_refused("tied: expected ascending numbers from 1 to below 4, found 4");
  data.tied = {2, 1};
  expect_refused("tied: expected ascending numbers from 1 to below 4, found 1");
  data.tied = {1, 1};
  expect_refused("tied: expected ascending numbers from 1 to below 4, found 1");
  data.tied = {1, 3};
  EXPECT_NO_THROW(Tokenizer{data});
  data.model = TokenizerModel::byte_fallback;
  expect_refused("tied: expected none of BPE with byte fallback, found 2");
}

TEST_F(Ties, without_a_space_before_the_text_none_is_left_out) {
  const Tokenizer unspaced(data);
  EXPECT_EQ(unspaced.encode(" \u2581a"), (Ids{258, 258, 256}));
  EXPECT_EQ(unspaced.decode(unspaced.encode(" a ")), " a ");
  data.normalizer = Normalizer::prepend_space;
  const Tokenizer prepended(data);
  EXPECT_EQ(prepended.encode(" a"), (Ids{258, 258, 256}));
  EXPECT_EQ(prepended.decode(prepended.encode(" a ")), " a ");
  data.normalizer = Normalizer::nfc;
  expect_refused("tokenizer: expected a split and a normalizer of BPE with byte fallback and ties");
}

}  // namespace
}  // namespace tessera::test
