#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "archive/key_file.hpp"
#include "base/errors.hpp"
#include "plan/key_fields.hpp"
#include "plan/limits.hpp"

#include "key_error.hpp"
#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

VerifyingKey key_with(TokenizerModel model) {
  VerifyingKey key = small_key();
  key.shape.n_vocab = 300;
  key.tokenizer = large_tokenizer(model);
  key.filler = key.tokenizer.end_of_text;
  return key;
}

class TokenizerOfKey : public testing::TestWithParam<TokenizerModel> {};

TEST_P(TokenizerOfKey, name_is_that_of_the_model) {
  EXPECT_EQ(tokenizer_kinds[static_cast<std::size_t>(GetParam())], name_of(GetParam()));
}

TEST_P(TokenizerOfKey, round_trips_with_tokens_that_strip) {
  if (GetParam() == TokenizerModel::gpt2) {
    return;
  }
  VerifyingKey key = key_with(GetParam());
  const std::size_t plain = key.encode().size();
  key.tokenizer.added_lstrip = {260};
  key.tokenizer.added_rstrip = {259, 261};
  const std::vector<std::uint8_t> bytes = key.encode();
  EXPECT_EQ(bytes.size(), plain + std::string_view(", some with the space beside them").size() + 2 * 8 + 3 * 4);
  EXPECT_EQ(VerifyingKey::decode(bytes).tokenizer, key.tokenizer);
  const TemporaryDirectory directory;
  save_key(directory / "k", key);
  EXPECT_EQ(load_key(directory / "k").tokenizer, key.tokenizer);
  // one that is said to have some and has none would be a second encoding of another
  key.tokenizer.added_rstrip.clear();
  std::vector<std::uint8_t> none = key.encode();
  const std::vector<std::uint8_t> lists = {1, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  const auto found = std::ranges::search(none, lists);
  ASSERT_NE(found.begin(), none.end());
  none.erase(found.begin(), found.begin() + 4);
  std::fill_n(found.begin(), 16, 0);
  EXPECT_THAT(key_error_of(none), testing::HasSubstr("added_lstrip: expected ids in it or in added_rstrip"));
}

TEST_P(TokenizerOfKey, round_trips_as_the_same_bytes) {
  const VerifyingKey key = key_with(GetParam());
  const std::vector<std::uint8_t> bytes = key.encode();
  const VerifyingKey decoded = VerifyingKey::decode(bytes);
  EXPECT_EQ(decoded.tokenizer, key.tokenizer);
  EXPECT_EQ(decoded.encode(), bytes);
  const TemporaryDirectory directory;
  save_key(directory / "k", key);
  EXPECT_EQ(load_key(directory / "k").tokenizer, key.tokenizer);
}

/// From the tokenizer on.
TEST_P(TokenizerOfKey, every_truncation_is_refused_and_no_changed_byte_is_lost) {
  const std::vector<std::uint8_t> whole = key_with(GetParam()).encode();
  const auto begin = static_cast<std::size_t>(std::ranges::search(whole, name_of(GetParam())).begin() - whole.begin() -
                                              sizeof(std::uint32_t));
  ASSERT_LT(begin, whole.size());
  for (std::size_t place = begin; place < whole.size(); place += 3) {  // at any offset in a number
    EXPECT_NE(key_error_of(std::span(whole).first(place)), "accepted") << place;
    std::vector<std::uint8_t> bytes = whole;
    bytes[place] ^= 1U;
    try {
      EXPECT_EQ(VerifyingKey::decode(bytes).encode(), bytes) << place;
    } catch (const InputError&) {
    }
  }
}

TEST_P(TokenizerOfKey, every_field_is_checked) {
  struct Case {
    const char* field;
    std::function<void(TokenizerData&)> change;
    bool of_bytes = true, of_fallback = true;
  };
  using D = TokenizerData;
  const Case cases[] = {
      {"tokenizer: expected a split and a normalizer", [](D& d) { d.split = Split::metaspace_first; }},
      {"tokenizer: expected a split and a normalizer", [](D& d) { d.split = Split::gpt2; }, false},
      {"tokenizer: expected a split and a normalizer", [](D& d) { d.normalizer = Normalizer::prepend_space; }, true,
       false},
      {"tokenizer: expected a split and a normalizer", [](D& d) { d.normalizer = Normalizer::nfkc; }, false},
      {"byte_tokens: ", [](D& d) { d.byte_tokens.push_back(1); }},
      {"byte_tokens: expected 256 ids", [](D& d) { d.byte_tokens.pop_back(); }, false},
      {"byte_tokens: token 4: expected the byte 3", [](D& d) { d.byte_tokens[3] = 4; }, false},
      {"byte_tokens: expected below 300", [](D& d) { d.byte_tokens[3] = 300; }, false},
      {"added_tokens: expected below 300", [](D& d) { d.added.push_back(300); }},
      {"added_tokens: expected ids of tokens", [](D& d) { d.added.push_back(299); }},
      {"added_tokens: expected ascending ids",
       [](D& d) {
         d.added = {260, 259};
       }},
      {"added_tokens: expected ascending ids",
       [](D& d) {
         d.added = {260, 260};
       }},
      {"added_normalized: expected ascending ids",
       [](D& d) {
         d.added_normalized = {261, 258};
       }},
      {"added_normalized: expected other ids",
       [](D& d) {
         d.added_normalized = {260, 261};
       }},
      {"added_lstrip: expected ids of added tokens", [](D& d) { d.added_lstrip = {256}; }},
      {"added_lstrip: expected below 300", [](D& d) { d.added_lstrip = {300}; }},
      {"added_rstrip: expected ids of added tokens", [](D& d) { d.added_rstrip = {256}; }},
      {"added_rstrip: expected ascending ids",
       [](D& d) {
         d.added_rstrip = {260, 259};
       }},
      {"prefix: expected below 300", [](D& d) { d.prefix = {300}; }},
      {"prefix: expected ids of tokens", [](D& d) { d.prefix = {299}; }},
      {"prefix: prefix tokens: expected 0 to 16, found 17", [](D& d) { d.prefix.assign(17, 259); }},
      {"added_tokens: added tokens: expected 0 to 16384, found 16385",
       [](D& d) { d.added.assign((1U << 14U) + 1, 259); }},
      {"added_normalized: added tokens: expected 0 to 16384",
       [](D& d) { d.added_normalized.assign((1U << 14U) + 1, 259); }},
      {"token 259: bytes: expected 1 to 128, found 129", [](D& d) { d.vocabulary[259].assign(129, 'x'); }},
      {"token 261: bytes: expected 1 to 128, found 129", [](D& d) { d.vocabulary[261].assign(129, 'x'); }},
      {"merges: expected below 300", [](D& d) { d.merges[0].left = 300; }},
      {"end_of_text: expected below 300", [](D& d) { d.end_of_text = 300; }},
  };
  const bool fallback = falls_back(GetParam());
  for (const Case& wrong : cases) {
    if (GetParam() != TokenizerModel::gpt2 && (fallback ? wrong.of_fallback : wrong.of_bytes)) {
      VerifyingKey key = key_with(GetParam());
      wrong.change(key.tokenizer);
      EXPECT_THAT(key_error_of(key.encode()), testing::HasSubstr(std::string("verifying key: ") + wrong.field));
    }
  }
}

TEST_P(TokenizerOfKey, names_and_flags_are_known) {
  if (GetParam() == TokenizerModel::gpt2) {
    return;
  }
  const VerifyingKey key = key_with(GetParam());
  const std::vector<std::uint8_t> whole = key.encode();
  const auto find = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::search(whole, name).begin() - whole.begin());
  };
  std::vector<std::uint8_t> bytes = whole;
  ++bytes[find(name_of(key.tokenizer.model))];
  EXPECT_THAT(
      key_error_of(bytes),
      testing::HasSubstr("tokenizer: expected BPE with byte fallback and ties, some with the space beside them, "));
  bytes = whole;
  ++bytes[find(name_of(key.tokenizer.split))];
  EXPECT_THAT(key_error_of(bytes), testing::HasSubstr("pre_tokenizer: expected gpt2_spaced, viking, "));
  bytes = whole;
  const std::size_t normalizer = find(name_of(key.tokenizer.normalizer));
  ++bytes[normalizer];
  EXPECT_THAT(key_error_of(bytes), testing::HasSubstr("normalizer: expected NFKC, prepend_space, NFC or none, found "));
  bytes = whole;
  bytes[normalizer + name_of(key.tokenizer.normalizer).size() + 4 + std::string_view("ignore_merges").size()] = 2;
  EXPECT_THAT(key_error_of(bytes), testing::HasSubstr("ignore_merges: expected 0 or 1, found 2"));
}

INSTANTIATE_TEST_SUITE_P(Models, TokenizerOfKey,
                         testing::Values(TokenizerModel::gpt2, TokenizerModel::byte_level,
                                         TokenizerModel::byte_fallback, TokenizerModel::tied_fallback),
                         [](const auto& tested) { return "model" + std::to_string(static_cast<int>(tested.param)); });

TEST(VerifyingKey, merges_of_equal_rank_are_checked_and_in_no_other_key) {
  VerifyingKey key = key_with(TokenizerModel::tied_fallback);
  key.tokenizer.tied = {1, 1};
  EXPECT_THAT(key_error_of(key.encode()),
              testing::HasSubstr("tied: expected ascending numbers from 1 to below 2, found 1"));
  key.tokenizer.tied = {2};
  EXPECT_THAT(key_error_of(key.encode()),
              testing::HasSubstr("tied: expected ascending numbers from 1 to below 2, found 2"));
  key.tokenizer.tied = {};
  EXPECT_THAT(key_error_of(key.encode()), testing::HasSubstr("tied: expected merges of equal rank"));
  key = key_with(TokenizerModel::byte_fallback);
  const std::vector<std::uint8_t> bytes = key.encode();
  key.tokenizer.tied = {1};
  EXPECT_EQ(key.encode(), bytes);
  EXPECT_THROW(check_key(key), InputError);
}

TEST(VerifyingKey, a_tokenizer_of_gpt2_has_no_other_fields) {
  VerifyingKey key = key_with(TokenizerModel::gpt2);
  key.tokenizer.prefix = {1};
  EXPECT_THROW(check_key(key), InputError);
}

}  // namespace
}  // namespace tessera::test
