// Values that leave their range are clamped and listed, and the proof is accepted.

#include <gtest/gtest.h>

#include <algorithm>

#include "saturation_runs.hpp"

namespace tessera::test {
namespace {

void expect_all_listed(const Told& run) {
  const Verdict verdict = run.verdict();
  expect_accepted(verdict);
  const auto found = clamped_counts(verdict);
  for (std::size_t list = 0; list < run.plan.clamped.size(); ++list) {
    const std::string& name = run.plan.clamped[list].name;
    EXPECT_EQ(run.trace.exceptions[list].empty(), name == "far") << name;
    EXPECT_EQ(found.contains(name) ? found.at(name) : 0, run.trace.exceptions[list].size()) << name;
  }
}

TEST(Saturation, every_list_of_gpt2) { expect_all_listed(gpt2_run()); }
TEST(Saturation, every_list_of_llama) {
  for (const std::size_t kind : {0U, 1U, 2U}) {
    SCOPED_TRACE(kind);
    expect_all_listed(llama_run(kind));
  }
}
TEST(Saturation, distances_alone) {
  const Told run = distant_run();
  const auto found = clamped_counts(run.verdict());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found.at("far"), 0U);
}

TEST(Saturation, one_list_alone) {
  std::size_t alone = 0;
  struct Damage {
    std::string list;
    ParameterId bias;
    int value;
    std::size_t block;                // whose bias is large
    std::optional<ParameterId> pull;  // what takes the residual stream away from its limit in block 1
  };
  for (const Damage& damage : {Damage{"layer_norm_1/u", beta1, 8, 1, {}},
                               {"layer_norm_2/u", beta2, 8, 1, {}},
                               {"layer_norm_final/u", betaf, 8, 0, {}},
                               {"q", bq, 10, 1, {}},
                               {"k", bk, 10, 0, {}},
                               {"v", bv, 10, 1, {}},
                               {"mlp", b1, 10, 1, {}},
                               {"x_mid", bo, 0, 1, b2},
                               {"x_in", b2, 0, 0, bo},
                               {"x_end", b2, 0, 1, {}}}) {
    SCOPED_TRACE(damage.list);
    Model model = RandomModel(11).make({2, 36, 3, 144, 300, 48});
    const std::span<std::int16_t> values = model.parameters[damage.bias].values();
    std::ranges::fill(values, std::int16_t{0});
    const std::size_t rows = damage.bias == betaf ? values.size() : values.size() / 2;
    values[damage.block * rows + rows - 1] = 32767;
    if (damage.pull) {
      model.parameters[*damage.pull].values()[2 * 36 - 1] = -32767;
    }
    for (const ParameterId gain : {gamma1, gamma2, gammaf}) {  // so that a large feature is none when it is normalised
      model.parameters[gain].values().back() = 2048;
    }
    model.exponents[damage.bias] = damage.value;
    TestModel test(std::move(model));
    Told run(test, saturated_prompt);
    const std::size_t listed = run.entries(damage.list).size();
    EXPECT_GT(listed, 0U);
    expect_accepted(run.verdict());
    alone += total(counts_of(run.trace.exceptions)) == listed ? 1 : 0;
  }
  EXPECT_GE(alone, 6U);  // others follow from some
}

/// The account of a proof with exceptions is its messages.
TEST(Saturation, account_is_the_proof_message_by_message) {
  for (const bool llama : {false, true}) {
    SCOPED_TRACE(llama);
    Told run = llama ? llama_run(2) : gpt2_run();
    const Proof proof = run.forge().prove();
    std::vector<std::vector<std::size_t>> drawn;
    VerifierTranscript transcript(statement_seed(run.test.key, run.statement), proof.payload);
    transcript.set_listener({.draws = [&](const auto& positions) { drawn.push_back(positions); }});
    const ProofClaims claims = verify_all(run.plan, run.test.key, run.statement, transcript);
    std::size_t draw = 0;
    const StatementAccount account = account_of(
        run.plan, run.test.key, [&](std::size_t, unsigned) { return drawn.at(draw++); }, claims.exceptions);
    ASSERT_EQ(proof.messages.size(), account.account.messages.size());
    for (std::size_t i = 0; i < proof.messages.size(); ++i) {
      EXPECT_EQ(proof.messages[i].path, account.account.messages[i].path);
      EXPECT_EQ(proof.messages[i].label, account.account.messages[i].label);
      EXPECT_EQ(proof.messages[i].length, account.account.messages[i].bytes()) << proof.messages[i].label;
    }
    // no proof has less soundness than is said of the statement
    EXPECT_GE(account.account.soundness().union_bits() + 1e-9, soundness_report(run.plan, run.test.key).union_bits());
  }
}

/// A conversation of two parts is one pass over both: states hold clamped keys and values.
TEST(Saturation, continuations_are_bound) {
  if (hiding_proofs > 0) {
    GTEST_SKIP() << "hiding keys have no conversations";
  }
  TestModel& test = saturated();
  const Part first = prove_part(test, nullptr, saturated_prompt, 4, true);
  expect_accepted(verify(test, first));
  Statement statement = statement_after(&first, {3, 250}, true);
  statement.generated.resize(3);
  statement.pass_length = 2;
  const Part second = prove_part(test, &first, std::move(statement));
  const Verdict verdict = verify(test, second);
  expect_accepted(verdict);
  EXPECT_GT(clamped_counts(verdict).size(), 3U);
  // one pass over all
  std::vector<std::uint32_t> all = saturated_prompt;
  all.insert(all.end(), first.statement.generated.begin(), first.statement.generated.end());
  all.insert(all.end(), {3, 250});
  const Told whole(test, all, 3);
  EXPECT_EQ(whole.statement.generated, second.statement.generated);
}

/// Beyond the key's limit inference refuses, with counts by tensor.
TEST(Saturation, more_than_the_key_allows_is_refused) {
  TestModel test(saturated_gpt2(), hiding_proofs, 20);
  try {
    Told run(test, saturated_prompt);
    FAIL() << "inferred";
  } catch (const RangeError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(
        message.starts_with("values beyond their ranges: expected at most 20 (the key's limit of exceptions), "
                            "found "))
        << message;
    EXPECT_NE(message.find("mlp "), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace tessera::test
