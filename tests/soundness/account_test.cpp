#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "arithmetic/tables.hpp"
#include "base/errors.hpp"
#include "plan/limits.hpp"

#include "fixture.hpp"

namespace tessera::test {
namespace {

/// An honest proof, the positions that its verifier draws and the claims that it comes to.
struct Verified {
  ModelPlan plan;
  Proof proof;
  std::vector<std::vector<std::size_t>> drawn;
  ProofClaims claims;
};

const Verified& verified() {
  static const Verified result = [] {
    TestModel& test = odd_model();
    Verified made{ModelPlan::of(test.key, odd_statement()), prove_lie(test, odd_statement(), {}), {}, {}};
    VerifierTranscript transcript(statement_seed(test.key, odd_statement()), made.proof.payload);
    transcript.set_listener({.draws = [&](const auto& positions) { made.drawn.push_back(positions); }});
    made.claims = verify_all(made.plan, test.key, odd_statement(), transcript);
    transcript.finish();
    return made;
  }();
  return result;
}

TEST(Account, is_the_proof_message_by_message) {
  std::size_t draw = 0;
  const StatementAccount account =
      account_of(verified().plan, odd_model().key, [&](std::size_t count, unsigned /*log_size*/) {
        EXPECT_EQ(verified().drawn.at(draw).size(), count);
        return verified().drawn.at(draw++);
      });
  EXPECT_EQ(draw, verified().drawn.size());
  const std::vector<Message>& sent = verified().proof.messages;
  const std::vector<Account::Message>& expected = account.account.messages;
  ASSERT_EQ(sent.size(), expected.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].path, expected[i].path);
    EXPECT_EQ(sent[i].label, expected[i].label);
    EXPECT_EQ(sent[i].length, expected[i].bytes()) << sent[i].path << ":" << sent[i].label;
  }
  EXPECT_EQ(account.account.bytes(), verified().proof.payload.size());

  for (const OracleId oracle : {parameter_oracle, witness_oracle}) {
    const auto& claims = verified().claims.ledger[oracle];
    ASSERT_EQ(account.ledger[oracle].size(), claims.size());
    for (std::size_t i = 0; i < claims.size(); ++i) {
      EXPECT_EQ(account.ledger[oracle][i].tensor, claims[i].tensor);
    }
  }
}

TEST(Account, without_positions_no_proof_is_longer) {
  const Account account = account_of(verified().plan, odd_model().key).account;
  const std::vector<Message>& sent = verified().proof.messages;
  ASSERT_EQ(sent.size(), account.messages.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i].label != "columns" && sent[i].label != "siblings") {
      EXPECT_EQ(sent[i].length, account.messages[i].bytes()) << sent[i].label;
    }
  }
  EXPECT_GE(account.bytes(), verified().proof.payload.size());
  EXPECT_LE(account.bytes(), verified().proof.payload.size() * 9 / 8);
}

/// Errors of the layers and the look-up by scope, from the shapes of the odd model: (block 1, feature 6, token 4) bits.
TEST(Account, every_error_of_the_layers_by_hand) {
  std::map<std::string, double> found;
  std::map<std::string, double> opening;
  for (const SoundnessEntry& entry : soundness_report(verified().plan, odd_model().key).entries) {
    (entry.scope == "/opening" ? opening : found)[entry.scope] += std::exp2(128 - entry.bits);
  }
  const double look_up = verified().plan.lookup.slots().log_leaves;
  const double work = verified().plan.lookup.grinding_bits();
  const double block = 1, feature = 6, token = 4, head = 2, place = 4, inner = 8, vocabulary = 9, row = 3;
  const double head_feature = block + head + place + token, activation = block + feature + token;
  const auto product = [&](double in) { return (block + in) * 3; };
  const std::string attention = "/self_attention/attention";
  // with as many exceptions as the key allows: every list is checked
  const std::map<std::string, double> expected{
      {"", default_exceptions},
      {"/lookup", std::exp2(look_up + 2 - work)},
      {"/lookup/layer", 2 * look_up + 3 * look_up * (look_up - 1) / 2},
      {"/final/logits", vocabulary + row},
      {"/final/logits/all", feature * 2},
      {"/final/logits/chosen", (feature + row) * 3},
      {"/final/layer_norm/reduce", 3 + (feature + token) * 2},
      {"/final/layer_norm", 1 + feature + token * 3},
      {"/final/layer_norm/gain", feature * 3},
      {"/final/layer_norm/squares", (feature + token) * 3},
      {"/final/layer_norm/token", token * 3},
      {"/feed_forward/mlp", activation},
      {"/feed_forward/mlp/x_in/reduce", activation * 2},
      {"/feed_forward/mlp/x_end/reduce", (feature + token) * 2},
      {"/feed_forward/mlp/reduce", 1 + (block + inner + token) * 2},
      {"/feed_forward/mlp/product", product(inner) + product(feature)},
      {"/feed_forward/layer_norm/reduce", 2 + activation * 2},
      {"/feed_forward/layer_norm", 1 + feature + (block + token) * 3},
      {"/feed_forward/layer_norm/gain", (block + feature) * 3},
      {"/feed_forward/layer_norm/squares", activation * 3},
      {"/feed_forward/layer_norm/token", (block + token) * 3},
      {"/self_attention/projection", activation},
      {"/self_attention/projection/x_mid/reduce", activation * 2},
      {"/self_attention/projection/product", product(feature)},
      {attention + "/reduce", 1 + head_feature * 2},
      {attention, place + (block + head + token) * 3},
      {attention + "/rows", (block + head + token) * 3},
      {attention + "/values", (block + head + token) * 3},
      {attention + "/mask", block + head + 2 * token * 3},
      {attention + "/scores", product(head + place)},
      {attention + "/far/reduce", (block + head + 2 * token) * 2},
      {"/self_attention/qkv/reduce", 8 + activation * 2},
      {"/self_attention/qkv/product", 2 + product(feature)},
      {"/self_attention/layer_norm/reduce", 2 + activation * 2},
      {"/self_attention/layer_norm", 1 + feature + (block + token) * 3},
      {"/self_attention/layer_norm/gain", (block + feature) * 3},
      {"/self_attention/layer_norm/squares", activation * 3},
      {"/self_attention/layer_norm/token", (block + token) * 3},
      {"/embedding", feature + token},
  };
  for (const auto& [scope, error] : expected) {
    EXPECT_NEAR(found[scope], error, 1e-6 * error) << scope;
  }
  EXPECT_EQ(found.size(), expected.size());
}

TEST(Account, the_batch_is_of_all_claims) {
  const SoundnessReport report = soundness_report(verified().plan, odd_model().key);
  const auto& ledger = verified().claims.ledger;
  // the limits of x_in, x_mid, x_end and far, and a remainder of z at a point of its own
  const std::size_t claims = ledger[parameter_oracle].size() + ledger[witness_oracle].size() + 5;
  const std::string reason = "batching of " + std::to_string(claims) + " claims";
  const auto entry = std::ranges::find(report.entries, reason, &SoundnessEntry::reason);
  ASSERT_NE(entry, report.entries.end());
  EXPECT_NEAR(entry->bits, 128 - std::log2(static_cast<double>(claims - 1)), 1e-6);
}

/// A key of a model that this version supports, with an encoding of its parameters that no longer has 100 bits: four
/// row variables over a domain of 2^32. Its look-ups are too many as well, which is checked later.
struct TooLarge {
  VerifyingKey key = odd_model().key;
  Statement statement{{0}, std::vector<std::uint32_t>(1024)};
  TooLarge() {
    key.shape = {1, 128, 1, 4, max_vocabulary, 2048};
    key.exp_table = exp_table(key.exponents[scales::score], IntegerConstants::of(key.shape, key.epsilon).kappa);
    key.parameter_oracle = {4, 8};
  }
};

TEST(Account, less_than_a_hundred_bits_are_seen) {
  const TooLarge large;
  const SoundnessReport report = soundness_report(ModelPlan::of(large.key, large.statement), large.key);
  EXPECT_LT(report.round_by_round_bits(), 94.0);
  EXPECT_GT(report.round_by_round_bits(), 92.0);
}

TEST(Account, verifier_refuses_less_than_a_hundred_bits) {
  const TooLarge large;
  expect_rejected(verify_inference(large.key, large.statement, {}), "/soundness");
}

TEST(Account, prover_refuses_less_than_a_hundred_bits) {
  const TooLarge large;
  TestModel& test = odd_model();
  try {
    prove_inference(ModelPlan::of(large.key, large.statement), large.key, large.statement, Trace{},
                    {test.parameters, *test.codeword}, test.comm);
    FAIL() << "proven";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("soundness: expected at least 100"));
  }
}

}  // namespace
}  // namespace tessera::test
