#include <gmock/gmock.h>

#include <functional>
#include "base/errors.hpp"
#include "archive/key_file.hpp"
#include "plan/limits.hpp"

#include "samples.hpp"
#include "temporary_directory.hpp"

namespace tessera::test {
namespace {

TEST(VerifyingKey, RoundTripsAsTheSameBytes) {
  const TemporaryDirectory directory;
  const VerifyingKey key = small_key();
  const std::vector<std::uint8_t> bytes = key.encode();
  const VerifyingKey decoded = VerifyingKey::decode(bytes);
  EXPECT_EQ(decoded.encode(), bytes);
  EXPECT_EQ(decoded.exponents, key.exponents);
  EXPECT_EQ(decoded.vocabulary, key.vocabulary);
  save_key(directory / "k", key);
  EXPECT_EQ(load_key(directory / "k").digest(), key.digest());
}

TEST(VerifyingKey, EveryTruncationAndExtensionIsRefused) {
  std::vector<std::uint8_t> bytes = small_key().encode();
  const std::vector<std::uint8_t> whole = bytes;
  bytes.push_back(0);
  EXPECT_THROW(VerifyingKey::decode(bytes), InputError);
  for (std::size_t length = 0; length < whole.size(); length += length < 300 ? 1 : 1009) {
    EXPECT_THROW(VerifyingKey::decode(std::span(whole).first(length)), InputError) << length;
  }
}

TEST(VerifyingKey, EveryRangeIsChecked) {
  struct Case {
    const char* field;
    std::function<void(VerifyingKey&)> change;
  };
  const Case cases[] = {
      {"version", [](VerifyingKey& k) { ++k.version; }},
      {"n_layer", [](VerifyingKey& k) { k.shape.n_layer = 0; }},
      {"n_layer", [](VerifyingKey& k) { k.shape.n_layer = 1025; }},
      {"n_embd", [](VerifyingKey& k) { k.shape.n_embd = (1U << 14) + 2; }},
      {"n_head", [](VerifyingKey& k) { k.shape.n_head = 0; }},
      {"n_head", [](VerifyingKey& k) { k.shape.n_head = 5; }},
      {"n_inner", [](VerifyingKey& k) { k.shape.n_inner = (1U << 16) + 1; }},
      {"n_vocab", [](VerifyingKey& k) { k.shape.n_vocab = std::size_t{1} << 60; }},
      {"vocabulary", [](VerifyingKey& k) { k.shape.n_vocab = 31; }},
      {"vocabulary", [](VerifyingKey& k) { k.vocabulary.pop_back(); }},
      {"vocabulary", [](VerifyingKey& k) { k.vocabulary[3].assign(max_vocabulary_bytes + 1, 'x'); }},
      {"n_positions", [](VerifyingKey& k) { k.shape.n_positions = 4097; }},
      {"epsilon", [](VerifyingKey& k) { k.epsilon = 0; }},
      {"epsilon", [](VerifyingKey& k) { k.epsilon = 3; }},
      {"epsilon", [](VerifyingKey& k) { k.epsilon = max_epsilon + 1; }},
      {"residual", [](VerifyingKey& k) { k.exponents.residual = 11; }},
      {"bq", [](VerifyingKey& k) { k.exponents.bq = INT32_MIN; }},
      {"u1", [](VerifyingKey& k) { k.exponents.u1 = 65; }},
      {"score", [](VerifyingKey& k) { k.exponents.score = 13; }},
      {"gelu", [](VerifyingKey& k) { k.exponents.gelu = k.exponents.mlp + 1; }},
      {"shift_q", [](VerifyingKey& k) { k.exponents.wq = -1; }},
      {"shift_v", [](VerifyingKey& k) { k.exponents.v = 64; }},
      {"score", [](VerifyingKey& k) { k.exponents.score = -6; }},
      {"shift_o", [](VerifyingKey& k) { k.exponents.wo = 19; }},
      {"shift_2", [](VerifyingKey& k) { k.exponents.w2 = 2; }},
      {"shift_norm of uf", [](VerifyingKey& k) { k.exponents.gammaf = 14; }},
      {"bias_1", [](VerifyingKey& k) { k.exponents.b1 = 26; }},
      {"bias_norm of beta2", [](VerifyingKey& k) { k.exponents.beta2 = -5; }},
      {"exp_table", [](VerifyingKey& k) { k.exp_table.push_back(0); }},
      {"exp_table", [](VerifyingKey& k) { k.exp_table[0] -= 1; }},
      {"exp_table", [](VerifyingKey& k) { k.exp_table[1] += 1; }},
      {"exp_table", [](VerifyingKey& k) { k.exp_table[5] = k.exp_table[4] + 32; }},
      {"exp_table", [](VerifyingKey& k) { k.exp_table[65535] = -32; }},
      {"gelu_table", [](VerifyingKey& k) { k.gelu_table.pop_back(); }},
      {"filler", [](VerifyingKey& k) { k.filler = 30; }},
      {"log_rows", [](VerifyingKey& k) { k.parameter_oracle.log_rows = 8; }},
      {"log_inverse_rate", [](VerifyingKey& k) { k.parameter_oracle.log_inverse_rate = 0; }},
      {"log_inverse_rate", [](VerifyingKey& k) { k.parameter_oracle.log_inverse_rate = 9; }},
  };
  ASSERT_NO_THROW(VerifyingKey::decode(small_key().encode()));
  for (const Case& wrong : cases) {
    VerifyingKey key = small_key();
    wrong.change(key);
    try {
      VerifyingKey::decode(key.encode());
      ADD_FAILURE() << wrong.field << " accepted";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(wrong.field));
    }
  }
}

}  // namespace
}  // namespace tessera::test
