#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include "base/errors.hpp"
#include "archive/key_file.hpp"
#include "plan/key_fields.hpp"
#include "plan/limits.hpp"

#include "key_error.hpp"
#include "samples.hpp"
#include "../files/temporary_directory.hpp"

namespace tessera::test {
namespace {

TEST(VerifyingKey, round_trips_as_the_same_bytes) {
  const TemporaryDirectory directory;
  const VerifyingKey key = small_key();
  const std::vector<std::uint8_t> bytes = key.encode();
  const VerifyingKey decoded = VerifyingKey::decode(bytes);
  EXPECT_EQ(decoded.encode(), bytes);
  EXPECT_EQ(decoded.exponents, key.exponents);
  EXPECT_EQ(decoded.tokenizer, key.tokenizer);
  save_key(directory / "k", key);
  EXPECT_EQ(load_key(directory / "k").digest(), key.digest());
}

TEST(VerifyingKey, every_truncation_and_extension_is_refused) {
  std::vector<std::uint8_t> bytes = small_key().encode();
  const std::vector<std::uint8_t> whole = bytes;
  bytes.push_back(0);
  EXPECT_THROW(VerifyingKey::decode(bytes), InputError);
  for (std::size_t length = 0; length < whole.size(); length += length < 300 ? 1 : 1009) {
    EXPECT_THROW(VerifyingKey::decode(std::span(whole).first(length)), InputError) << length;
  }
}

TEST(VerifyingKey, another_version_is_refused_by_name) {
  std::vector<std::uint8_t> bytes = small_key().encode();
  bytes[0] = 2;
  EXPECT_EQ(key_error_of(bytes), "verifying key: version: expected 19, found 2");
  EXPECT_EQ(key_error_of(std::span(bytes).first(4)), "verifying key: version: expected 19, found 2");
}

/// It stands behind the ends, and only where there is one; every byte of it counts.
TEST(VerifyingKey, chat_template_is_a_field) {
  VerifyingKey key = small_key();
  const std::vector<std::uint8_t> without = key.encode();
  key.tokenizer.chat.text = "{{ messages }}";
  key.tokenizer.chat.tokens[1] = "</s>";
  key.tokenizer.chat.special = {key.tokenizer.end_of_text};
  const std::vector<std::uint8_t> with = key.encode();
  EXPECT_EQ(with.size(), without.size() + 4 + 13 + 4 + 14 + 7 * 4 + 4 + 8 + 4);
  EXPECT_EQ(VerifyingKey::decode(with).tokenizer.chat, key.tokenizer.chat);
  VerifyingKey other = key;
  other.tokenizer.chat.text.back() = ')';
  EXPECT_NE(other.digest(), key.digest());
  const auto error_with = [&key](const std::function<void(ChatTemplate&)>& change) {
    VerifyingKey changed = key;
    change(changed.tokenizer.chat);
    return key_error_of(changed.encode());
  };
  EXPECT_EQ(error_with([](ChatTemplate& chat) { chat.text += "\xff"; }),
            "verifying key: chat_template: expected UTF-8, found other bytes at 14");
  EXPECT_EQ(error_with([](ChatTemplate& chat) { chat.text.resize((1U << 17U) + 1, 'a'); }),
            "verifying key: chat_template: chat template bytes: expected 1 to 131072, found 131073");
  EXPECT_EQ(error_with([](ChatTemplate& chat) { chat.tokens[2].resize(129, 'a'); }),
            "verifying key: unk_token: chat token bytes: expected 0 to 128, found 129");
  EXPECT_EQ(error_with([](ChatTemplate& chat) { chat.special = {0}; }),
            "verifying key: special: expected ascending ids of added tokens, found 0");
}

/// It stands behind the root, before the number of hiding proofs, and only where it is not 0.
TEST(VerifyingKey, limit_of_exceptions_is_a_field) {
  VerifyingKey key = small_key();
  key.exceptions = 0;
  const std::vector<std::uint8_t> without = key.encode();
  key.exceptions = 4096;
  const std::vector<std::uint8_t> with = key.encode();
  EXPECT_EQ(with.size(), without.size() + 4 + 10 + 4);
  EXPECT_TRUE(std::equal(without.begin(), without.end(), with.begin()));
  EXPECT_EQ(VerifyingKey::decode(with).exceptions, 4096U);
  EXPECT_EQ(VerifyingKey::decode(without).exceptions, 0U);
  key.parameter_oracle.log_inverse_rate = 1;
  key.hiding_proofs = 3;
  const VerifyingKey decoded = VerifyingKey::decode(key.encode());
  EXPECT_EQ(decoded.exceptions, 4096U);
  EXPECT_EQ(decoded.hiding_proofs, 3U);
  std::vector<std::uint8_t> zero = with;
  std::fill(zero.end() - 4, zero.end(), std::uint8_t{0});
  EXPECT_EQ(key_error_of(zero), "verifying key: exceptions: expected at least 1, found 0");
}

/// Behind exceptions, before the proofs of a hiding key; nothing where the end of text is the only end.
TEST(VerifyingKey, ends_are_a_list_behind_exceptions) {
  VerifyingKey key = small_key();
  const std::vector<std::uint8_t> without = key.encode();
  key.tokenizer.ends = {3, 7, key.tokenizer.end_of_text};
  const std::vector<std::uint8_t> with = key.encode();
  std::vector<std::uint8_t> expected = without;
  const std::uint8_t section[] = {4, 0, 0, 0, 'e', 'n', 'd', 's', 3, 0, 0,  0, 0, 0,
                                  0, 0, 3, 0, 0,   0,   7,   0,   0, 0, 29, 0, 0, 0};
  expected.insert(expected.end(), std::begin(section), std::end(section));
  EXPECT_EQ(with, expected);
  EXPECT_EQ(VerifyingKey::decode(with).tokenizer.ends, (std::vector<std::uint32_t>{3, 7, 29}));
  EXPECT_TRUE(VerifyingKey::decode(without).tokenizer.ends.empty());
  key.hiding_proofs = 3;
  key.parameter_oracle.log_inverse_rate = 1;
  const VerifyingKey hiding = VerifyingKey::decode(key.encode());
  EXPECT_EQ(hiding.tokenizer.ends, key.tokenizer.ends);
  EXPECT_EQ(hiding.hiding_proofs, 3U);
}

TEST(VerifyingKey, refuses_bad_ends_by_name) {
  const auto said_of = [](std::vector<std::uint32_t> ends) {
    VerifyingKey key = small_key();
    key.tokenizer.ends = std::move(ends);
    return key_error_of(key.encode());
  };
  const std::string start = "verifying key: ends: ";
  EXPECT_EQ(said_of({3, 29}), "accepted");
  EXPECT_EQ(said_of({3, 29, 30}), start + "expected below 30, found 30");
  EXPECT_EQ(said_of({7, 3, 29}), start + "expected ascending ids, found 3 behind 7");
  EXPECT_EQ(said_of({3, 3, 29}), start + "expected ascending ids, found 3 behind 3");
  EXPECT_EQ(said_of({3, 7}), start + "expected the end of text, 29, among them, found a list without it");
  EXPECT_THAT(said_of({29}), testing::HasSubstr(start + "end tokens: expected 2 to 64, found 1"));
  std::vector<std::uint32_t> many(65);
  std::iota(many.begin(), many.end(), 0U);
  EXPECT_THAT(said_of(many), testing::HasSubstr(start + "end tokens: expected 2 to 64, found 65"));
  VerifyingKey key = small_key();
  key.tokenizer.ends = {3, 29};
  std::vector<std::uint8_t> bytes = key.encode();
  bytes[bytes.size() - 16] = 0;
  EXPECT_THAT(key_error_of(bytes), testing::HasSubstr(start + "end tokens: expected 2 to 64, found 0"));
  bytes.resize(bytes.size() - 8);
  EXPECT_THAT(key_error_of(bytes), testing::HasSubstr("verifying key: "));
  bytes = key.encode();
  bytes.pop_back();
  EXPECT_THAT(key_error_of(bytes), testing::HasSubstr(start + "expected at most 1 entries, found 2"));
}

/// Every name, and every number that says how long something is.
TEST(VerifyingKey, names_and_lengths_are_the_layers) {
  const std::vector<std::uint8_t> whole = small_key().encode();
  const auto find = [&](const std::string& name) {
    return static_cast<std::size_t>(std::ranges::search(whole, name).begin() - whole.begin());
  };
  for (const std::string name : {"positions", "norm_place", "n_layer", "n_positions", "epsilon", "residual", "betaf",
                                 "exp_table", "activation_table", "byte-level BPE", "end_of_text", "filler"}) {
    ASSERT_LT(find(name), whole.size()) << name;
    std::vector<std::uint8_t> bytes = whole;
    ++bytes[find(name)];
    EXPECT_THAT(key_error_of(bytes), testing::HasSubstr(name + ", found ")) << name;
    for (const unsigned length : {0U, 1U, 255U}) {  // of the name, 255 in the highest byte
      bytes = whole;
      bytes[find(name) - (length == 255 ? 1 : 4)] = static_cast<std::uint8_t>(length);
      EXPECT_NE(key_error_of(bytes), "accepted") << name;
    }
  }
  for (const auto& [first, section] : std::map<std::string, std::string>{{"n_layer", "sizes"},
                                                                         {"epsilon", "constants"},
                                                                         {"residual", "exponents"},
                                                                         {"exp_table", "tables"},
                                                                         {"end_of_text", "special tokens"}}) {
    std::vector<std::uint8_t> bytes = whole;
    ++bytes[find(first) - 8];
    EXPECT_THAT(key_error_of(bytes), testing::HasSubstr(section + ": expected ")) << section;
  }
  for (const std::size_t place : {9, 13}) {  // behind the name: log2 of the rows, bytes an entry
    std::vector<std::uint8_t> bytes = whole;
    bytes[find("exp_table") + place] = 62;
    EXPECT_THAT(key_error_of(bytes), testing::HasSubstr("exp_table: expected ")) << place;
  }
  std::vector<std::uint8_t> bytes = whole;
  bytes[find("end_of_text") - 8 - 2 * 8 - 6] = 0x10;  // 2^20 merges more, which would be in bounds
  EXPECT_THAT(key_error_of(bytes), testing::HasSubstr("merges: expected at most "));
  VerifyingKey key = small_key();
  key.tokenizer.merges.assign(max_merges + 1, {});
  EXPECT_THAT(key_error_of(key.encode()), testing::HasSubstr("merges: expected 0 to 4194304, found 4194305"));
}

TEST(VerifyingKey, tokens_and_vocabulary_are_bounded) {
  VerifyingKey key = small_key();
  key.tokenizer.vocabulary[3].assign(1024, 'x');
  EXPECT_EQ(key_error_of(key.encode()), "accepted");
  key.tokenizer.vocabulary[3] += 'x';
  EXPECT_THAT(key_error_of(key.encode()),
              testing::HasSubstr("vocabulary: token bytes: expected 0 to 1024, found 1025"));
  key.shape.n_vocab = (max_vocabulary_bytes >> 10U) + 1;
  key.tokenizer.vocabulary.assign(key.shape.n_vocab, std::string(1024, 'x'));
  EXPECT_THAT(key_error_of(key.encode()),
              testing::HasSubstr("vocabulary bytes: expected 0 to 67108864, found 67109888"));
}

TEST(VerifyingKey, domain_of_the_parameters_is_bounded) {
  VerifyingKey key = small_key();
  key.shape = {24, 4096, 16, 16384, 30, 16};
  key.epsilon = IntegerConstants::of(key.shape, 1e-5).epsilon;
  key.parameter_oracle = {7, 1};
  EXPECT_EQ(key_error_of(key.encode()), "accepted");
  key.parameter_oracle = {4, 8};
  EXPECT_THAT(key_error_of(key.encode()), testing::HasSubstr("log_domain: expected 0 to 32, found 3"));
}

TEST(VerifyingKey, epsilon_keeps_inverses_below32_bits) {  // floor(sqrt(eps'))*2^31 > round(sqrt(12)*2^16)*2^14
  VerifyingKey key = small_key();
  key.epsilon = 4;
  EXPECT_EQ(key_error_of(key.encode()), "accepted");
  key.epsilon = 3;
  EXPECT_THAT(key_error_of(key.encode()), testing::HasSubstr("epsilon: expected at least 4"));
}

TEST(VerifyingKey, every_range_is_checked) {
  struct Case {
    const char* field;
    std::function<void(VerifyingKey&)> change;
  };
  const Case cases[] = {
      {"version", [](VerifyingKey& k) { ++k.version; }},
      {"exceptions", [](VerifyingKey& k) { k.exceptions = (1U << 16) + 1; }},
      {"n_layer", [](VerifyingKey& k) { k.shape.n_layer = 0; }},
      {"n_layer", [](VerifyingKey& k) { k.shape.n_layer = 1025; }},
      {"n_embd", [](VerifyingKey& k) { k.shape.n_embd = (1U << 14) + 2; }},
      {"n_head", [](VerifyingKey& k) { k.shape.n_head = 0; }},
      {"n_head", [](VerifyingKey& k) { k.shape.n_head = 5; }},
      {"n_inner", [](VerifyingKey& k) { k.shape.n_inner = (1U << 16) + 1; }},
      {"n_vocab", [](VerifyingKey& k) { k.shape.n_vocab = std::size_t{1} << 60; }},
      {"vocabulary", [](VerifyingKey& k) { k.shape.n_vocab = 31; }},
      {"vocabulary", [](VerifyingKey& k) { k.tokenizer.vocabulary.pop_back(); }},
      {"vocabulary", [](VerifyingKey& k) { k.tokenizer.vocabulary[3].assign(max_vocabulary_bytes + 1, 'x'); }},
      {"n_positions", [](VerifyingKey& k) { k.shape.n_positions = 4097; }},
      {"epsilon", [](VerifyingKey& k) { k.epsilon = 0; }},
      {"epsilon", [](VerifyingKey& k) { k.epsilon = 3; }},
      {"epsilon", [](VerifyingKey& k) { k.epsilon = max_epsilon + 1; }},
      {"residual", [](VerifyingKey& k) { k.exponents[scales::residual] = 11; }},
      {"bq", [](VerifyingKey& k) { k.exponents[bq] = INT32_MIN; }},
      {"u1", [](VerifyingKey& k) { k.exponents[scales::u1] = 65; }},
      {"score", [](VerifyingKey& k) { k.exponents[scales::score] = 13; }},
      {"gelu", [](VerifyingKey& k) { k.exponents[scales::gelu] = k.exponents[scales::mlp] + 1; }},
      {"shift_q", [](VerifyingKey& k) { k.exponents[wq] = -1; }},
      {"shift_v", [](VerifyingKey& k) { k.exponents[scales::v] = 64; }},
      {"score", [](VerifyingKey& k) { k.exponents[scales::score] = -6; }},
      {"shift_o", [](VerifyingKey& k) { k.exponents[wo] = 19; }},
      {"shift_2", [](VerifyingKey& k) { k.exponents[w2] = 2; }},
      {"shift_norm of uf", [](VerifyingKey& k) { k.exponents[gammaf] = 14; }},
      {"bias_1", [](VerifyingKey& k) { k.exponents[b1] = 26; }},
      {"bias_q", [](VerifyingKey& k) { k.exponents[bq] = 26; }},
      {"bias_k", [](VerifyingKey& k) { k.exponents[bk] = 26; }},
      {"bias_v", [](VerifyingKey& k) { k.exponents[bv] = 26; }},
      {"bias_o", [](VerifyingKey& k) { k.exponents[bo] = 25; }},
      {"bias_2", [](VerifyingKey& k) { k.exponents[b2] = 25; }},
      {"bias_norm of beta1", [](VerifyingKey& k) { k.exponents[beta1] = -5; }},
      {"bias_norm of betaf", [](VerifyingKey& k) { k.exponents[betaf] = -5; }},
      {"bias_norm of beta2", [](VerifyingKey& k) { k.exponents[beta2] = -5; }},
      {"exp_table", [](VerifyingKey& k) { k.exp_table.push_back(0); }},
      {"exp_table", [](VerifyingKey& k) { k.exp_table[0] -= 1; }},
      {"exp_table", [](VerifyingKey& k) { k.exp_table[1] += 1; }},
      {"exp_table", [](VerifyingKey& k) { k.exp_table[5] = k.exp_table[4] + 32; }},
      {"exp_table", [](VerifyingKey& k) { k.exp_table[65535] = -32; }},
      {"exp_table: expected 0 at the end",
       [](VerifyingKey& k) { std::ranges::for_each(k.exp_table, [](auto& e) { e = std::max(e, 32); }); }},
      {"activation_table", [](VerifyingKey& k) { k.gelu_table.resize(1U << 15); }},
      {"activation_table: expected 0 at 32768, the value of 0, found -3",
       [](VerifyingKey& k) { k.gelu_table[1U << 15] = -3; }},
      {"merges", [](VerifyingKey& k) { k.tokenizer.merges[1].right = 30; }},
      {"merges", [](VerifyingKey& k) { k.tokenizer.merges[0].left = 30; }},
      {"end_of_text", [](VerifyingKey& k) { k.tokenizer.end_of_text = 30; }},
      {"filler", [](VerifyingKey& k) { k.filler = 30; }},
      {"log_rows", [](VerifyingKey& k) { k.parameter_oracle.log_rows = 3; }},  // a leaf as long as a node
      {"log_rows", [](VerifyingKey& k) { k.parameter_oracle.log_rows = 8; }},
      {"log_inverse_rate", [](VerifyingKey& k) { k.parameter_oracle.log_inverse_rate = 0; }},
      {"log_inverse_rate", [](VerifyingKey& k) { k.parameter_oracle.log_inverse_rate = 9; }},
      {"absent_rows",
       [](VerifyingKey& k) {
         k.parameter_oracle = {6, 1, 4};
       }},
      {"absent_rows",
       [](VerifyingKey& k) {
         k.parameter_oracle = {6, 1, 32};
       }},
      {"absent_rows",
       [](VerifyingKey& k) {
         k.parameter_oracle = {6, 1, UINT32_MAX - 15};
       }},
  };
  ASSERT_NO_THROW(VerifyingKey::decode(small_key().encode()));
  for (const Case& wrong : cases) {
    VerifyingKey key = small_key();
    wrong.change(key);
    EXPECT_THAT(key_error_of(key.encode()), testing::HasSubstr(wrong.field));
  }
}

}  // namespace
}  // namespace tessera::test
