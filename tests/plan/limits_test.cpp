#include <gmock/gmock.h>

#include "base/errors.hpp"
#include "architecture/model_plan.hpp"
#include "arithmetic/tables.hpp"

namespace tessera::test {
namespace {

using testing::HasSubstr;

/// A key from which a plan can be made, of any shape.
VerifyingKey key_of(const ModelShape& shape) {
  VerifyingKey key;
  key.shape = shape;
  key.epsilon = IntegerConstants::of(shape, 1e-5).epsilon;
  Exponents& e = key.exponents;
  e[scales::u1] = e[scales::u2] = e[scales::uf] = 11;
  e[scales::q] = e[scales::k] = e[scales::v] = 10;
  e[scales::score] = 8;
  e[scales::mlp] = e[scales::gelu] = 10;
  e[wq] = e[wk] = e[wv] = e[wo] = e[w1] = e[w2] = 14;
  e[bq] = e[bk] = e[bv] = e[bo] = e[b1] = e[b2] = 12;
  e[gamma1] = e[gamma2] = e[gammaf] = e[beta1] = e[beta2] = e[betaf] = 12;
  key.exp_table = exp_table(e[scales::score], ceil_log2(shape.n_positions) + 1);
  key.gelu_table.resize(std::size_t{1} << 16);
  return key;
}

std::string error_of(const VerifyingKey& key, std::size_t tokens, std::uint32_t pass_length = 0) {
  try {
    Statement statement{std::vector<std::uint32_t>(tokens - 1), {0}};
    statement.pass_length = pass_length;
    (void)ModelPlan::of(key, statement);
    return "none";
  } catch (const InputError& error) {
    return error.what();
  }
}

const ModelShape small = {2, 12, 3, 20, 30, 16};

TEST(PlanLimits, function_tables_have_their_sizes) {
  EXPECT_EQ(error_of(key_of(small), 5), "none");
  for (const std::size_t size : {std::size_t{0}, std::size_t{65535}, std::size_t{65537}}) {
    VerifyingKey key = key_of(small);
    key.exp_table.resize(size);
    EXPECT_THAT(error_of(key, 5), HasSubstr("function tables: expected 2^16 and 2^16 rows")) << size;
    key = key_of(small);
    key.gelu_table.resize(size);
    EXPECT_THAT(error_of(key, 5), HasSubstr("function tables: expected 2^16 and 2^16 rows")) << size;
  }
}

TEST(PlanLimits, tokens_of_the_key) {
  VerifyingKey key = key_of(small);
  key.filler = 30;
  EXPECT_THAT(error_of(key, 5), HasSubstr("filler: expected below 30, found 30"));
}

TEST(PlanLimits, score_tiles) {  // 32 x 32 tiles a head and block
  EXPECT_THAT(error_of(key_of({205, 40, 20, 20, 30, 4096}), 4096),
              HasSubstr("score tiles: expected 0 to 4194304, found 4198400"));
}

TEST(PlanLimits, score_tiles_of_passes) {  // 4096/M x 32 tiles of passes of M rows
  const VerifyingKey key = key_of({8, 20, 5, 20, 30, 4096});
  EXPECT_EQ(error_of(key, 4096, 2), "none");
  EXPECT_THAT(error_of(key, 4096, 1), HasSubstr("score tiles: expected 0 to 4194304, found 5242880"));
}

TEST(PlanLimits, pass_length) {
  for (const std::uint32_t length : {1U, 2U, 64U, 128U}) {  // the rows' number or more: one pass
    EXPECT_EQ(error_of(key_of(small), 5, length), "none");
  }
  for (const std::uint32_t length : {3U, 96U, 129U, 256U, 1U << 31, ~0U}) {
    EXPECT_THAT(error_of(key_of(small), 5, length),
                HasSubstr("pass_length: expected a power of two from 1 to 128, found " + std::to_string(length)));
  }
}

TEST(PlanLimits, domain_of_the_witness) {
  VerifyingKey key = key_of({256, 15360, 8, 4096, 30, 4096});
  key.parameter_oracle = {7, 1};
  EXPECT_THAT(error_of(key, 4096), HasSubstr("length: witness log_domain: expected 0 to 32, found 33"));
}

TEST(PlanLimits, lengths) {
  EXPECT_EQ(error_of(key_of(small), 16), "none");
  EXPECT_THAT(error_of(key_of(small), 17), HasSubstr("at most 16 tokens"));
  EXPECT_THAT(error_of(key_of(small), 1), HasSubstr("prompt: expected at least one token"));
}

}  // namespace
}  // namespace tessera::test
