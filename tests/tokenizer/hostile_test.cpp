#include <gtest/gtest.h>

#include <cstring>
#include <ctime>

#include "base/errors.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera::test {
namespace {

constexpr std::uint64_t multiplier = 0xc6a4a7935bd1e995;  // of the standard library's hash of bytes
constexpr std::uint64_t inverse = 0x5f7a0ea7e59b19bd;
static_assert(multiplier * inverse == 1);

/// The eight bytes that the hash mixes in as `mixed`.
std::string block_of(std::uint64_t mixed) {
  const std::uint64_t shifted = mixed * inverse;
  const std::uint64_t block = (shifted ^ shifted >> 47U) * inverse;
  std::string bytes(sizeof block, '\0');
  std::memcpy(bytes.data(), &block, sizeof block);
  return bytes;
}

/// 2^16 strings of one hash: the top bit of a mixed block stays alone until the next block takes it back.
std::vector<std::string> strings_of_one_hash() {
  constexpr std::uint64_t top = std::uint64_t{1} << 63U;
  std::vector<std::string> strings(std::size_t{1} << 16U);
  for (std::size_t i = 0; i < strings.size(); ++i) {
    for (unsigned bit = 0; bit < 16; ++bit) {
      const std::uint64_t flipped = (i >> bit & 1U) != 0 ? top : 0;
      strings[i] += block_of(2 * bit + 1 + flipped) + block_of(2 * bit + 2 + flipped);
    }
  }
  return strings;
}

TEST(HostileTokenizer, tokens_of_one_hash_are_not_quadratic) {
  TokenizerData data{strings_of_one_hash(), {}, 0};
  ASSERT_EQ(std::hash<std::string_view>{}(data.vocabulary[0]), std::hash<std::string_view>{}(data.vocabulary[12345]));
  for (int byte = 0; byte < 256; ++byte) {
    data.vocabulary.emplace_back(1, static_cast<char>(byte));
  }
  const std::clock_t start = std::clock();
  const Tokenizer tokenizer(std::move(data));
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
  EXPECT_EQ(tokenizer.encode("a").size(), 1U);
}

/// As many added tokens as a key may have, as long as they may be, that all begin like the text.
TEST(HostileTokenizer, added_tokens_that_almost_match_are_quick) {
  TokenizerData data{{}, {}, 0};
  for (int byte = 0; byte < 256; ++byte) {
    data.vocabulary.emplace_back(1, static_cast<char>(byte));
  }
  data.model = TokenizerModel::byte_level;
  for (std::uint32_t i = 0; i < 1U << 14U; ++i) {
    data.added.push_back(static_cast<std::uint32_t>(data.vocabulary.size()));
    data.vocabulary.push_back(std::string(112, 'a') + "b" + std::to_string(i));
  }
  const std::clock_t start = std::clock();
  const Tokenizer tokenizer(std::move(data));
  EXPECT_EQ(tokenizer.encode(std::string(100000, 'a')).size(), 100000U);
  EXPECT_LT(std::clock() - start, 3 * CLOCKS_PER_SEC);
}

TEST(AddedTokens, the_first_place_and_there_the_longest_counts) {
  const AddedTokens tokens({{"ab", 1}, {"abc", 2}, {"b", 3}, {"cd", 4}, {"abcde", 5}, {"b", 6}});
  std::string found;
  const auto text = [&](std::string_view part) { found.append("[").append(part).append("]"); };
  const auto token = [&](std::uint32_t id) { found += std::to_string(id); };
  for (const auto& [whole, expected] : std::vector<std::pair<std::string, std::string>>{
           {"", ""}, {"x", "[x]"}, {"abcd", "2[d]"}, {"abcde", "5"}, {"xabxcdb", "[x]1[x]43"}, {"aab", "[a]1"}}) {
    found.clear();
    tokens.cut(whole, {}, text, token);
    EXPECT_EQ(found, expected) << whole;
  }
  found.clear();
  AddedTokens().cut("ab", {}, text, token);
  EXPECT_EQ(found, "[ab]");
}

/// Tokens that are white space and take along what follows: each would look through the rest of the text.
TEST(HostileTokenizer, white_space_beside_added_tokens_is_looked_through_once) {
  const AddedTokens tokens({{"\t", 1, true, true}, {"x", 2, true, true}});
  std::size_t found = 0;
  const std::clock_t start = std::clock();
  tokens.cut(
      std::string(1000000, '\t'), {}, [](std::string_view) { FAIL(); }, [&](std::uint32_t) { ++found; });
  EXPECT_EQ(found, 1000000U);
  EXPECT_LT(std::clock() - start, 2 * CLOCKS_PER_SEC);
}

class Fields : public testing::Test {
 protected:
  Fields() {
    for (int byte = 0; byte < 256; ++byte) {
      data.vocabulary.emplace_back(1, static_cast<char>(byte));
    }
    data.vocabulary.insert(data.vocabulary.end(), {"<s>", "", "ab"});
    data.model = TokenizerModel::byte_level;
  }
  void expect_refused() const { EXPECT_THROW(Tokenizer{data}, InputError); }
  TokenizerData data;
};

TEST_F(Fields, added_tokens_stand_in_one_list_and_ascend) {
  data.added = {256, 258};
  EXPECT_EQ(Tokenizer(data).encode("a<s>ab"), (std::vector<std::uint32_t>{97, 256, 258}));
  data.added = {258, 256};
  expect_refused();
  data.added = {256, 256};
  expect_refused();
  data.added = {257};  // no token
  expect_refused();
  data.added = {259};
  expect_refused();
  data.added = {256};
  data.added_normalized = {256};
  expect_refused();
}

TEST_F(Fields, tokens_that_strip_are_added_ones) {
  data.added = {256};
  data.added_lstrip = {256};
  EXPECT_EQ(Tokenizer(data).encode("a \n<s> b"), (std::vector<std::uint32_t>{97, 256, 32, 98}));
  data.added_rstrip = {256};
  EXPECT_EQ(Tokenizer(data).encode("a \n<s> b"), (std::vector<std::uint32_t>{97, 256, 98}));
  data.added_rstrip = {258};
  expect_refused();
  data.added_rstrip = {256, 256};
  expect_refused();
  data.added_rstrip = {259};
  expect_refused();
  data.added_rstrip = {256};
  data.model = TokenizerModel::gpt2;
  data.added.clear();
  expect_refused();
}

TEST_F(Fields, belong_to_the_model) {
  data.prefix = {256};
  EXPECT_EQ(Tokenizer(data).encode_prompt("a"), (std::vector<std::uint32_t>{256, 97}));
  EXPECT_EQ(Tokenizer(data).encode("a"), (std::vector<std::uint32_t>{97}));
  data.prefix = {257};
  expect_refused();
  data.prefix.clear();
  data.split = Split::whole;
  expect_refused();
  data.split = Split::llama3;
  data.normalizer = Normalizer::prepend_space;
  expect_refused();
  for (const Normalizer normalizer : {Normalizer::none, Normalizer::nfkc, Normalizer::nfc}) {
    data.normalizer = normalizer;
    EXPECT_NO_THROW(Tokenizer{data});
  }
  data.split = Split::gpt2_spaced;
  EXPECT_NO_THROW(Tokenizer{data});
  data.byte_tokens = {1};
  expect_refused();
  data.byte_tokens.clear();
  data.model = TokenizerModel::gpt2;
  expect_refused();
}

TEST_F(Fields, empty_entries_are_no_tokens) {
  data.ignore_merges = true;
  const Tokenizer tokenizer(data);
  EXPECT_EQ(tokenizer.encode("ab <s>"), (std::vector<std::uint32_t>{258, 32, '<', 's', '>'}));
  EXPECT_EQ(tokenizer.decode(std::vector<std::uint32_t>{97, 257, 98}), "ab");
  data.merges = {{257, 97}};
  expect_refused();
  data.merges.clear();
  data.vocabulary[255].clear();  // text with that byte has no tokens
  EXPECT_THROW((void)Tokenizer(data).encode("\xff"), InputError);
  data.vocabulary[255] = "ab";
  expect_refused();
}

}  // namespace
}  // namespace tessera::test
