// Sampled tokens: each number that decides about one is what the statement says it is.

#include <gtest/gtest.h>

#include "model/integer_model.hpp"
#include "parts.hpp"

namespace tessera::testing {
namespace {

const Ids prompt{17, 42, 5, 99, 120, 7, 64, 31};
const std::string sampling_scope = "/final/logits/sampling";

Sampling some_sampling() {
  // a flat distribution of which every rule leaves something out
  Sampling sampling{.inverse_temperature = 600, .top_k = 12, .top_p = 60000, .cutoff = 9000, .seed = {}};
  sampling.seed.fill(7);
  return sampling;
}

Statement sampled(const Sampling& sampling, std::size_t generate = 5) {
  Statement statement{prompt, Ids(generate)};
  statement.sampling = sampling;
  return statement;
}

Trace trace_of(TestModel& test, Statement& statement) {
  Trace trace = run_inference(test.integers, ModelPlan::of(test.key, statement), prompt_rows(statement), test.comm);
  statement.generated = trace.generated_tokens();
  return trace;
}

/// What a liar has: a true statement and its working set.
struct Sampled {
  Statement statement = sampled(some_sampling());
  Trace trace = trace_of(odd_model(), statement);

  [[nodiscard]] ModelPlan plan() const { return ModelPlan::of(odd_model().key, statement); }
  [[nodiscard]] const SampledPlan& handles() const { return *plan_.logits.sampled; }
  [[nodiscard]] std::vector<std::int64_t> logits(std::size_t row) {
    std::vector<std::int64_t> values;
    for (std::size_t j = 0; j < handles().top_k(); ++j) {
      values.push_back(
          trace[static_cast<const Recorded<std::int64_t>&>(handles().logit)].values()[handles().place(j, row)]);
    }
    return values;
  }
  [[nodiscard]] std::vector<Choice> choices() {
    std::vector<Choice> result;
    for (std::size_t g = 0; g < statement.generated.size(); ++g) {
      result.push_back(choose(logits(g), *statement.sampling, handles().widths.shift, prompt.size() + g));
    }
    return result;
  }

 private:
  ModelPlan plan_ = plan();
};

const Sampled& honest() {
  static const Sampled sampled;
  return sampled;
}

/// Proves with what the liar says of the choices, by the plan as it is changed, and verifies likewise.
Verdict verdict_on(Sampled lie, const std::vector<Choice>& choices, const PlanChange& change = {}) {
  ModelPlan plan = lie.plan();
  if (change) {
    change(plan);
  }
  Forgery forgery(odd_model(), lie.statement, plan, std::move(lie.trace));
  set_choices(*forgery.witness, forgery.plan.logits, choices);
  forgery.witness->finish(odd_model().comm, OutOfRange::skip);
  return verify_inference(plan, odd_model().key, lie.statement, forgery.prove().payload);
}

/// Rejected by the range check of this value alone.
void only_range_catches(const Sampled& lie, const std::vector<Choice>& choices, RangeId range) {
  expect_rejected(verdict_on(lie, choices), lookup_scope);
  expect_accepted(verdict_on(lie, choices, [&](ModelPlan& plan) { widen(plan, range, 1, true); }));
}

std::size_t row_where(const std::vector<Choice>& choices, const std::function<bool(const Choice&)>& holds) {
  const auto found = std::ranges::find_if(choices, holds);
  if (found == choices.end()) {
    throw std::logic_error("no row of the statement fits the lie");
  }
  return static_cast<std::size_t>(found - choices.begin());
}

TEST(Sampling, true_statements_are_accepted) {
  for (Sampling sampling : {some_sampling(), Sampling{}, Sampling{4096, 1, 1 << 16, 65300, {}},
                            Sampling{1 << 17, 300, 1, 0, {}}, Sampling{1 << 8, 300, 1 << 16, 65300, {}}}) {
    Statement statement = sampled(sampling, 3);
    Trace trace = trace_of(odd_model(), statement);
    Forgery forgery(odd_model(), statement, ModelPlan::of(odd_model().key, statement), std::move(trace));
    expect_accepted(verify_inference(odd_model().key, statement, forgery.prove().payload));
  }
}

TEST(Sampling, one_candidate_is_the_arg_max) {
  Statement statement = sampled({4096, 1, 1 << 16, 65300, {}});
  trace_of(odd_model(), statement);
  EXPECT_EQ(statement.generated, true_statement(odd_model(), prompt, 5).generated);
}

TEST(Sampling, the_lies_need_rows_of_every_kind) {
  Sampled sampled = honest();
  const std::vector<Choice> choices = sampled.choices();
  EXPECT_TRUE(std::ranges::any_of(choices, [](const Choice& c) { return c.within < 12; }));
  EXPECT_TRUE(std::ranges::any_of(choices, [](const Choice& c) { return c.kept < c.within; }));
  EXPECT_TRUE(std::ranges::any_of(choices, [](const Choice& c) { return c.chosen > 0; }));
  expect_accepted(verdict_on(sampled, choices));
}

/// The proof of a statement is none of another one.
TEST(Sampling, another_statement_is_rejected) {
  Sampled lie = honest();
  const Proof proof = Forgery(odd_model(), lie.statement, lie.plan(), lie.trace).prove();
  expect_accepted(verify_inference(odd_model().key, lie.statement, proof.payload));
  const auto rejected = [&](const auto& change) {
    Statement other = lie.statement;
    change(other);
    EXPECT_FALSE(verify_inference(odd_model().key, other, proof.payload).accepted);
  };
  rejected([](Statement& s) { s.sampling->inverse_temperature += 1; });
  rejected([](Statement& s) { s.sampling->top_k = 11; });
  rejected([](Statement& s) { s.sampling->top_k = 13; });
  rejected([](Statement& s) { s.sampling->top_p += 1; });
  rejected([](Statement& s) { s.sampling->cutoff += 1; });
  rejected([](Statement& s) { s.sampling->seed[31] ^= 1; });
  rejected([](Statement& s) { s.sampling.reset(); });
}

/// Numbers of one statement, proven as another one's.
TEST(Sampling, every_parameter_is_bound) {
  const auto scope_of = [](const auto& change) {
    Sampled lie = honest();
    Forgery forgery(odd_model(), lie.statement, lie.plan(), std::move(lie.trace));
    change(*forgery.statement.sampling);
    forgery.plan = ModelPlan::of(odd_model().key, forgery.statement);
    const Verdict verdict = verify_inference(odd_model().key, forgery.statement, forgery.prove().payload);
    EXPECT_FALSE(verdict.accepted);
    return verdict.scope;
  };
  EXPECT_EQ(scope_of([](Sampling& s) { s.inverse_temperature += 1; }), "/final/logits");
  EXPECT_EQ(scope_of([](Sampling& s) { s.top_p += 1; }), sampling_scope);
  EXPECT_EQ(scope_of([](Sampling& s) { s.cutoff += 1; }), sampling_scope);
  EXPECT_EQ(scope_of([](Sampling& s) { s.seed[0] ^= 1; }), sampling_scope);
}

TEST(Sampling, a_token_beside_the_interval_is_rejected) {
  for (const int step : {-1, 1}) {
    Sampled lie = honest();
    std::vector<Choice> choices = lie.choices();
    // the last row: no other one follows from the lie
    const std::size_t row = choices.size() - 1;
    Choice& choice = choices[row];
    ASSERT_TRUE(choice.chosen > 0 && choice.chosen + 1 < choice.kept) << choice.chosen << " of " << choice.kept;
    choice.chosen = choice.chosen + static_cast<std::size_t>(step);
    lie.statement.generated[row] =
        static_cast<std::uint32_t>(lie.trace[lie.handles().ids].values()[lie.handles().place(choice.chosen, row)]);
    step < 0 ? only_range_catches(lie, choices, lie.handles().high)
             : only_range_catches(lie, choices, lie.handles().low);
  }
}

TEST(Sampling, the_interval_of_another_row_is_rejected) {
  Sampled lie = honest();
  std::vector<Choice> choices = lie.choices();
  std::swap(choices[0].limbs, choices[1].limbs);
  expect_rejected(verdict_on(lie, choices), sampling_scope);
}

TEST(Sampling, thresholds_leave_in_what_they_say) {
  const Sampled lie = honest();
  const std::vector<Choice> choices = Sampled(lie).choices();
  std::vector<Choice> more = choices;
  const std::size_t cut = row_where(choices, [](const Choice& c) { return c.kept < c.within; });
  ++more[cut].kept;
  {
    // one more token in the sum moves Q
    SCOPED_TRACE("top-p, one too many");
    expect_rejected(verdict_on(lie, more), lookup_scope);
  }
  std::vector<Choice> less = choices;
  const std::size_t long_row = row_where(choices, [](const Choice& c) { return c.chosen + 1 < c.kept; });
  --less[long_row].kept;
  {
    SCOPED_TRACE("top-p, one too few");
    expect_rejected(verdict_on(lie, less), lookup_scope);
  }
  std::vector<Choice> near = choices;
  const std::size_t short_row = row_where(choices, [](const Choice& c) { return c.within < 12; });
  Choice& choice = near[short_row];
  choice.weights[choice.within] =
      weight_table()[static_cast<std::size_t>(choice.scores[0] - choice.scores[choice.within])];
  ++choice.within;
  {
    SCOPED_TRACE("min-p, one too many");
    expect_rejected(verdict_on(lie, near), lookup_scope);
  }
  std::vector<Choice> far = choices;
  const std::size_t row = row_where(choices, [](const Choice& c) { return c.kept < c.within; });
  far[row].weights[--far[row].within] = 0;
  {
    SCOPED_TRACE("min-p, one too few");
    expect_rejected(verdict_on(lie, far), lookup_scope);
  }
}

TEST(Sampling, scores_and_weights_are_those_of_the_logits) {
  const Sampled lie = honest();
  const std::vector<Choice> choices = Sampled(lie).choices();
  const auto scope_of = [&](const auto& change) {
    std::vector<Choice> others = choices;
    change(others[2]);
    const Verdict verdict = verdict_on(lie, others);
    EXPECT_FALSE(verdict.accepted);
    return verdict.scope;
  };
  EXPECT_EQ(scope_of([](Choice& c) { ++c.scores[3]; }), lookup_scope);   // its remainder is negative
  EXPECT_EQ(scope_of([](Choice& c) { --c.scores[3]; }), lookup_scope);   // its remainder is too large
  EXPECT_EQ(scope_of([](Choice& c) { ++c.weights[1]; }), lookup_scope);  // no row of the table
  EXPECT_EQ(scope_of([](Choice& c) { --c.weights[0]; }), lookup_scope);
}

/// What a liar who has another list of candidates proves.
Verdict with_candidates(const std::function<void(Sampled&, std::size_t row)>& change, const PlanChange& plan = {}) {
  Sampled lie = honest();
  const std::size_t row = 3;
  change(lie, row);
  std::vector<Choice> choices;
  for (std::size_t g = 0; g < lie.statement.generated.size(); ++g) {
    choices.push_back(choose(lie.logits(g), *lie.statement.sampling, lie.handles().widths.shift, prompt.size() + g));
  }
  const auto& ids = lie.trace[lie.handles().ids].values();
  for (std::size_t g = 0; g < choices.size(); ++g) {
    lie.statement.generated[g] = static_cast<std::uint32_t>(ids[lie.handles().place(choices[g].chosen, g)]);
  }
  return verdict_on(std::move(lie), choices, plan);
}

struct Listed {
  std::int32_t& id;
  std::int64_t& logit;
};
Listed entry(Sampled& lie, std::size_t place, std::size_t row) {
  const std::size_t at = lie.handles().place(place, row);
  return {lie.trace[lie.handles().ids].values()[at],
          lie.trace[static_cast<const Recorded<std::int64_t>&>(lie.handles().logit)].values()[at]};
}
void copy(const Listed& to, const Listed& from) {
  to.id = from.id;
  to.logit = from.logit;
}

TEST(Sampling, candidates_are_the_best_ones) {
  // the last row's liar says something of a row whose token stays: rows behind it would follow from the lie
  const auto leave_out_the_last = [](Sampled& lie, std::size_t row) {
    // another token in the place of the twelfth
    const Listed last = entry(lie, 11, row);
    const auto& all = lie.trace[lie.plan().logits.values];
    std::int32_t other = 0;
    for (std::int32_t v = 0; v < 300; ++v) {
      const std::int64_t logit =
          block_row(const_cast<ChunkedTensor<std::int64_t>&>(all), 0, static_cast<std::size_t>(v))[row];
      if (logit < last.logit) {
        other = v;
        last.logit = logit;
        break;
      }
    }
    last.id = other;
  };
  expect_rejected(with_candidates(leave_out_the_last), lookup_scope);
  expect_accepted(
      with_candidates(leave_out_the_last, [](ModelPlan& plan) { widen(plan, plan.logits.difference, 1, true); }));
}

TEST(Sampling, candidates_are_in_order) {
  const auto swap = [](Sampled& lie, std::size_t row) {
    std::swap(entry(lie, 9, row).id, entry(lie, 10, row).id);
    std::swap(entry(lie, 9, row).logit, entry(lie, 10, row).logit);
  };
  expect_rejected(with_candidates(swap), lookup_scope);
  expect_accepted(with_candidates(swap, [](ModelPlan& plan) { widen(plan, plan.logits.sampled->order, 1, true); }));
  const auto twice = [](Sampled& lie, std::size_t row) { copy(entry(lie, 6, row), entry(lie, 5, row)); };
  EXPECT_FALSE(with_candidates(twice).accepted);
}

TEST(Sampling, candidates_have_their_own_logits) {
  const auto higher = [](Sampled& lie, std::size_t row) { ++entry(lie, 0, row).logit; };
  expect_rejected(with_candidates(higher), "/final/logits/all");
}

TEST(Sampling, what_is_said_in_clear_is_checked) {
  const auto reason = [](const auto& change) {
    Sampled lie = honest();
    Forgery forgery(odd_model(), lie.statement, lie.plan(), lie.trace);
    change(forgery.witness->candidates);
    const Verdict verdict = verify_inference(odd_model().key, lie.statement, forgery.prove().payload);
    EXPECT_FALSE(verdict.accepted);
    return verdict.reason;
  };
  EXPECT_EQ(reason([](Candidates& c) { c.ids[5] = 300; }), "a candidate that is no token");
  EXPECT_EQ(reason([](Candidates& c) { c.kept[1] = 0; }), "counts of candidates out of order");
  EXPECT_EQ(reason([](Candidates& c) { c.kept[1] = c.within[1] + 1; }), "counts of candidates out of order");
  EXPECT_EQ(reason([](Candidates& c) { c.within[1] = 13; }), "counts of candidates out of order");
  EXPECT_EQ(reason([](Candidates& c) { c.ids[c.chosen[0]] = (c.ids[c.chosen[0]] + 150) % 300; }),
            "a generated token is none of the candidates that are kept");
}

TEST(Sampling, widths_leave_no_room) {
  const ModelPlan plan = honest().plan();
  const SampledPlan& sampled = *plan.logits.sampled;
  const auto width = [&](RangeId range) { return plan.ranges[range.range].width; };
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    EXPECT_EQ(width(sampled.quotient[i]), 33U);
    EXPECT_EQ(width(sampled.limb_remainder[i]), 16U);
    EXPECT_EQ(plan.ranges[sampled.limb_remainder[i].range].committed.size(), 1U);
  }
  EXPECT_EQ(width(sampled.low), 33U);
  EXPECT_EQ(width(sampled.high), 33U);
  EXPECT_EQ(width(sampled.top_low), 49U);
  EXPECT_EQ(width(sampled.top_high), 49U);
  EXPECT_EQ(width(sampled.near), 17U);
  EXPECT_EQ(width(sampled.order), 48U);
  EXPECT_EQ(width(plan.logits.difference), 48U);
}

/// A part goes on drawing where the part before it has ended: the text is that of one pass.
TEST(Sampling, parts_and_passes_draw_the_same_text) {
  TestModel& test = odd_model();
  const Statement whole = honest().statement;
  for (const std::uint32_t pass_length : {0U, 4U}) {
    Statement first = statement_after(nullptr, prompt, true);
    first.generated.resize(2);
    first.sampling = whole.sampling;
    first.pass_length = pass_length;
    const Part before = prove_part(test, nullptr, first);
    expect_accepted(verify(test, before));
    Statement next = statement_after(&before, {}, false);
    next.generated.resize(3);
    next.sampling = whole.sampling;
    const Part after = prove_part(test, &before, next);
    expect_accepted(verify(test, after));
    Ids all = before.statement.generated;
    all.insert(all.end(), after.statement.generated.begin(), after.statement.generated.end());
    EXPECT_EQ(all, whole.generated);
  }
}

TEST(Sampling, altered_messages_are_rejected) {
  Statement statement = sampled(some_sampling(), 2);
  expect_altered_messages_rejected(odd_model(), prove_part(odd_model(), nullptr, statement));
}

}  // namespace
}  // namespace tessera::testing
