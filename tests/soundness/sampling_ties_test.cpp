// Candidates of equal logits: which of them comes first, and which is left out, is not the prover's choice either.

#include <gtest/gtest.h>

#include "integer_model/integer_model.hpp"
#include "parts.hpp"

#include "../golden/golden_import.hpp"

namespace tessera::test {
namespace {

constexpr std::size_t tied = 4;  // place of the first one of the two

/// A text of one token, whose row no other choice of tokens changes.
Statement drawn(std::uint32_t top_k) {
  Statement statement{odd_prompt, Ids(1)};
  statement.sampling = Sampling{.inverse_temperature = 600, .top_k = top_k, .top_p = 1U << 16U, .cutoff = 65300};
  return statement;
}

struct Row {
  std::vector<std::int32_t> ids;
  std::vector<std::int64_t> logits;
};
/// The candidates of an honest pass, which generates the statement's token.
Row candidates_of(TestModel& test, Statement& statement) {
  const ModelPlan plan = ModelPlan::of(test.key, statement);
  Trace trace = run_inference(test.integers, plan, odd_prompt, test.comm);
  statement.generated = trace.generated_tokens();
  const SampledPlan& handles = *plan.logits.sampled;
  Row row;
  for (std::size_t j = 0; j < handles.top_k(); ++j) {
    row.ids.push_back(trace[handles.ids].values()[handles.place(j, 0)]);
    row.logits.push_back(
        trace[static_cast<const Recorded<std::int64_t>&>(handles.logit)].values()[handles.place(j, 0)]);
  }
  return row;
}

/// odd-40k, but that the token 299 has the embedding of the row's fifth candidate: so it is the sixth, of the same
/// logit.
TestModel& tied_model() {
  static TestModel test = [] {
    Statement statement = drawn(12);
    const auto first = static_cast<std::size_t>(candidates_of(odd_model(), statement).ids[tied]);
    Model model = golden::import_bundled("odd-40k").model;
    auto rows = model.parameters[embedding].block(0);
    std::ranges::copy(rows.row(first), rows.row(299).begin());
    return TestModel(std::move(model));
  }();
  return test;
}

/// With a seed that draws the first one of the two.
Statement drawing_the_first(std::uint32_t top_k) {
  Statement statement = drawn(top_k);
  for (int seed = 0; seed < 256; ++seed) {
    statement.sampling->seed.fill(static_cast<std::uint8_t>(seed));
    const Row row = candidates_of(tied_model(), statement);
    if (statement.generated[0] == static_cast<std::uint32_t>(row.ids[tied])) {
      return statement;
    }
  }
  throw std::runtime_error("no seed draws it");
}

/// Proves the statement with another list of candidates, by the plan as it is changed, and verifies likewise.
Verdict verdict_on(const Statement& statement, const Row& row, const PlanChange& change = {}) {
  TestModel& test = tied_model();
  ModelPlan plan = ModelPlan::of(test.key, statement);
  if (change) {
    change(plan);
  }
  Trace trace = run_one_pass(test.integers, plan, odd_prompt, statement.generated, test.comm);
  const SampledPlan& handles = *plan.logits.sampled;
  for (std::size_t j = 0; j < row.ids.size(); ++j) {
    trace[handles.ids].values()[handles.place(j, 0)] = row.ids[j];
    trace[static_cast<const Recorded<std::int64_t>&>(handles.logit)].values()[handles.place(j, 0)] = row.logits[j];
  }
  Forgery forgery(test, statement, plan, std::move(trace));
  return verify_inference(plan, test.key, statement, forgery.prove().payload);
}

TEST(SamplingTies, the_lower_id_comes_first) {
  Statement statement = drawing_the_first(12);
  Row row = candidates_of(tied_model(), statement);
  ASSERT_EQ(row.logits[tied], row.logits[tied + 1]);
  ASSERT_EQ(row.ids[tied + 1], 299);
  expect_accepted(verdict_on(statement, row));
  std::swap(row.ids[tied], row.ids[tied + 1]);
  statement.generated[0] = 299;  // which is now where the number hits
  expect_rejected(verdict_on(statement, row), lookup_scope);
  expect_accepted(
      verdict_on(statement, row, [](ModelPlan& plan) { widen(plan, plan.logits.sampled->order, 1, true); }));
}

TEST(SamplingTies, the_lower_id_is_the_one_that_is_listed) {
  Statement statement = drawing_the_first(tied + 1);
  Row row = candidates_of(tied_model(), statement);
  ASSERT_NE(row.ids[tied], 299);
  expect_accepted(verdict_on(statement, row));
  row.ids[tied] = 299;  // and the other one is left out
  statement.generated[0] = 299;
  expect_rejected(verdict_on(statement, row), lookup_scope);
  expect_accepted(verdict_on(statement, row, [](ModelPlan& plan) { widen(plan, plan.logits.difference, 1, true); }));
}

}  // namespace
}  // namespace tessera::test
