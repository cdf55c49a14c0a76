#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "integer_model/integer_model.hpp"

#include "fixture.hpp"

namespace tessera::test {
namespace {

Trace naive_trace(TestModel& test, const Statement& statement) { return naive_inference(test.integers, statement); }

Verdict verdict_under(TestModel& test, const Statement& statement, const ModelPlan& plan) {
  Forgery forgery(test, statement, plan, naive_trace(test, statement));
  return verify_inference(plan, test.key, statement, forgery.prove().payload);
}

/// Rejected, and accepted if the differences of the arg-max may be negative.
void only_differences_catch(TestModel& test, const Statement& statement) {
  ModelPlan plan = ModelPlan::of(test.key, statement);
  expect_rejected(verdict_under(test, statement, plan), lookup_scope);
  widen(plan, plan.logits.difference, 1, true);
  expect_accepted(verdict_under(test, statement, plan));
}

TEST(TokenLies, another_token_is_rejected) {
  for (const std::size_t place : {0, 4}) {
    Statement statement = odd_statement();
    statement.generated[place] = statement.generated[place] == 50 ? 51 : 50;
    // the rest of the text follows from the lie
    std::vector<std::uint32_t> ids = statement.prompt;
    ids.insert(ids.end(), statement.generated.begin(),
               statement.generated.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    if (place + 1 < statement.generated.size()) {
      const Statement rest = true_statement(odd_model(), ids, statement.generated.size() - place - 1);
      std::ranges::copy(rest.generated, statement.generated.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    }
    only_differences_catch(odd_model(), statement);
  }
}

TEST(TokenLies, tie_goes_to_the_lowest_id) {
  Model model = odd_model().model;
  const auto d = static_cast<std::ptrdiff_t>(model.shape.n_embd);
  const std::vector<std::uint32_t>& prompt = odd_statement().prompt;
  const auto winner = static_cast<std::ptrdiff_t>(odd_statement().generated[0]);
  const std::ptrdiff_t twin = winner == 298 ? 297 : 298;
  const auto rows = model.parameters[embedding].values().begin();
  std::copy_n(rows + winner * d, d, rows + twin * d);
  TestModel test(std::move(model));
  const auto lowest = static_cast<std::uint32_t>(std::min(winner, twin));
  const auto highest = static_cast<std::uint32_t>(std::max(winner, twin));
  const Statement honest{prompt, {lowest}};
  ASSERT_EQ(true_statement(test, prompt, 1), honest);
  expect_accepted(verdict_under(test, honest, ModelPlan::of(test.key, honest)));
  only_differences_catch(test, {prompt, {highest}});
}

/// Differences that fit, from a logit of the chosen token that is not its own.
TEST(TokenLies, chosen_logit_is_bound) {
  TestModel& test = odd_model();
  Statement statement = odd_statement();
  statement.generated.back() = statement.generated.back() == 50 ? 51 : 50;
  Forgery forgery(test, statement, ModelPlan::of(test.key, statement), naive_trace(test, statement));
  const ModelPlan& plan = forgery.plan;
  ChunkedTensor<std::int64_t>& chosen = forgery.zeros(plan.witness_shapes[plan.logits.token_logit]);
  ChunkedTensor<std::int64_t>& difference = forgery.zeros(plan.shapes.logits);
  for (std::size_t g = 0; g < statement.generated.size(); ++g) {
    for (std::size_t v = 0; v < test.model.shape.n_vocab; ++v) {
      chosen.values()[g] =
          std::max(chosen.values()[g], block_row(forgery.trace[odd_plan().logits.values], 0, v)[g] + 1);
    }
    for (std::size_t v = 0; v < test.model.shape.n_vocab; ++v) {
      block_row(difference, 0, v)[g] = chosen.values()[g] -
                                       block_row(forgery.trace[odd_plan().logits.values], 0, v)[g] -
                                       (v < statement.generated[g] ? 1 : 0);
    }
  }
  forgery.set_tensor(plan.logits.token_logit, chosen);
  forgery.set_range(plan.logits.difference, difference);
  forgery.recount();
  expect_rejected(verify_inference(test.key, statement, forgery.prove().payload), "/final/logits/chosen");
}

/// One difference off by one: of a token, of a padded vocabulary row, of a row that generates nothing.
TEST(TokenLies, every_difference_is_bound) {
  TestModel& test = odd_model();
  const Statement& statement = odd_statement();
  for (const auto& [token, row] :
       {std::pair{std::size_t{7}, std::size_t{0}}, std::pair{std::size_t{301}, std::size_t{0}},
        std::pair{std::size_t{7}, std::size_t{6}}}) {
    SCOPED_TRACE(token);
    Forgery forgery(test, statement, ModelPlan::of(test.key, statement), naive_trace(test, statement));
    ChunkedTensor<std::int64_t>& difference = forgery.zeros(forgery.plan.shapes.logits);
    for (std::size_t g = 0; g < statement.generated.size(); ++g) {
      const std::uint32_t chosen = statement.generated[g];
      for (std::size_t v = 0; v < test.model.shape.n_vocab; ++v) {
        block_row(difference, 0, v)[g] = block_row(forgery.trace[odd_plan().logits.values], 0, chosen)[g] -
                                         block_row(forgery.trace[odd_plan().logits.values], 0, v)[g] -
                                         (v < chosen ? 1 : 0);
      }
    }
    ++block_row(difference, 0, token)[row];
    forgery.set_range(forgery.plan.logits.difference, difference);
    forgery.recount();
    expect_rejected(verify_inference(test.key, statement, forgery.prove().payload), "/final/logits/all");
  }
}

TEST(TokenLies, statements_that_the_model_cannot_have_are_refused) {
  TestModel& test = odd_model();
  const Proof proof = prove_lie(test, odd_statement(), {});
  const auto refused = [&](const auto& change) {
    Statement statement = odd_statement();
    change(statement);
    expect_rejected(verify_inference(test.key, statement, proof.payload), "/statement");
  };
  refused([](Statement& s) { s.generated[2] = 300; });  // a padded row of the vocabulary
  refused([](Statement& s) { s.prompt[2] = 300; });
  refused([](Statement& s) { s.generated[2] = 0xFFFFFFFF; });
  refused([](Statement& s) { s.prompt.clear(); });
  refused([](Statement& s) { s.generated.clear(); });
  refused([](Statement& s) { s.prompt.resize(48); });
}

}  // namespace
}  // namespace tessera::test
