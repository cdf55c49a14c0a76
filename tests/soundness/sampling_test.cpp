// Sampled tokens: each number that decides about one is what the statement says it is.

#include <gtest/gtest.h>

#include <numeric>

#include "integer_model/integer_model.hpp"
#include "sampled_statement.hpp"

namespace tessera::test {
namespace {

Sampling list_sampling() {
  // a flat distribution of which every rule leaves something out; the last row's token is in the middle
  Sampling sampling{.inverse_temperature = 600, .top_k = 12, .top_p = 60000, .cutoff = 3500, .seed = {}};
  sampling.seed.fill(3);
  return sampling;
}

/// What a liar has: a true statement and its working set.
struct Sampled {
  Statement statement = sampled(list_sampling());
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
      result.push_back(choose(logits(g), *statement.sampling, handles().widths.shift, odd_prompt.size() + g));
    }
    return result;
  }

 private:
  ModelPlan plan_ = plan();
};

const Sampled& true_sampled() {
  static const Sampled sampled;
  return sampled;
}

/// The trace of an honest pass but for the candidates that the liar says.
Trace told_trace(const Sampled& lie) {
  // the last token has a row, too, which nothing comes of
  Trace trace = run_one_pass(odd_model().integers, lie.plan(), odd_prompt, lie.statement.generated, odd_model().comm);
  trace[lie.handles().ids] = lie.trace[lie.handles().ids];
  const Recorded<std::int64_t>& logit = lie.handles().logit;
  trace[logit] = lie.trace[logit];
  return trace;
}

/// What such a forgery says of the choices.
void tell(Forgery& forgery, const std::vector<Choice>& choices) {
  set_choices(*forgery.witness, forgery.plan.logits, choices);
  forgery.witness->finish(odd_model().comm, OutOfRange::skip);
}

/// Proves with what the liar says of the choices, by the plan as it is changed, and verifies likewise.
Verdict verdict_on(Sampled lie, const std::vector<Choice>& choices, const PlanChange& change = {}) {
  ModelPlan plan = lie.plan();
  if (change) {
    change(plan);
  }
  Forgery forgery(odd_model(), lie.statement, plan, told_trace(lie));
  tell(forgery, choices);
  return verify_inference(plan, odd_model().key, lie.statement, forgery.prove().payload);
}

/// Rejected by the range check of this value alone.
void only_range_catches(const Sampled& lie, const std::vector<Choice>& choices, RangeId range) {
  expect_rejected(verdict_on(lie, choices), lookup_scope);
  expect_accepted(verdict_on(lie, choices, [&](ModelPlan& plan) { widen(plan, range, 1, true); }));
}

TEST(Sampling, true_statements_are_accepted) {
  for (Sampling sampling : {list_sampling(), Sampling{}, Sampling{4096, 1, 1 << 16, 65300, {}},
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
  EXPECT_EQ(statement.generated, true_statement(odd_model(), odd_prompt, 5).generated);
}

TEST(Sampling, the_lies_need_rows_of_every_kind) {
  Sampled sampled = true_sampled();
  const std::vector<Choice> choices = sampled.choices();
  EXPECT_TRUE(std::ranges::any_of(choices, [](const Choice& c) { return c.within < 12; }));
  EXPECT_TRUE(std::ranges::any_of(choices, [](const Choice& c) { return c.kept < c.within; }));
  EXPECT_TRUE(std::ranges::any_of(choices, [](const Choice& c) { return c.chosen > 0; }));
  expect_accepted(verdict_on(sampled, choices));
}

/// The proof of a statement is none of another one.
TEST(Sampling, another_statement_is_rejected) {
  Sampled lie = true_sampled();
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
    Sampled lie = true_sampled();
    Forgery forgery(odd_model(), lie.statement, lie.plan(), std::move(lie.trace));
    change(*forgery.statement.sampling);
    forgery.plan = ModelPlan::of(odd_model().key, forgery.statement);
    const Verdict verdict = verdict_of(forgery);
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
    Sampled lie = true_sampled();
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

/// With another row's number the last row has another token, to which all the rest fits.
TEST(Sampling, the_interval_of_another_row_is_rejected) {
  Sampled lie = true_sampled();
  std::vector<Choice> choices = lie.choices();
  const std::size_t row = choices.size() - 1;
  const std::uint64_t position = odd_prompt.size() + 0;  // of the first one
  const Choice other = choose(lie.logits(row), *lie.statement.sampling, lie.handles().widths.shift, position);
  ASSERT_NE(other.chosen, choices[row].chosen);
  choices[row] = other;
  lie.statement.generated[row] =
      static_cast<std::uint32_t>(lie.trace[lie.handles().ids].values()[lie.handles().place(other.chosen, row)]);
  expect_rejected(verdict_on(lie, choices), sampling_scope);
}

/// A liar's counts of the last row, with all that follows from them.
void lie_about_counts(Sampled& lie, std::vector<Choice>& choices, int within, int kept) {
  Choice& choice = choices.back();
  choice.within = choice.within + static_cast<std::size_t>(within);
  std::int64_t all = 0;
  for (std::size_t j = 0; j < choice.weights.size(); ++j) {
    choice.weights[j] =
        j < choice.within ? weight_table()[static_cast<std::size_t>(choice.scores[0] - choice.scores[j])] : 0;
    all += choice.weights[j];
  }
  std::int64_t sum = 0;
  for (choice.kept = 0; (sum << 16) < all * lie.statement.sampling->top_p; ++choice.kept) {
    sum += choice.weights[choice.kept];
  }
  choice.kept = choice.kept + static_cast<std::size_t>(kept);
  sum = std::accumulate(choice.weights.begin(), choice.weights.begin() + static_cast<std::ptrdiff_t>(choice.kept),
                        std::int64_t{0});
  const std::uint64_t uniform = uniform_at(lie.statement.sampling->seed, odd_prompt.size() + choices.size() - 1);
  auto hit = static_cast<std::int64_t>(static_cast<unsigned __int128>(uniform) * static_cast<std::uint64_t>(sum) >> 48);
  for (choice.chosen = 0; hit >= choice.weights[choice.chosen]; ++choice.chosen) {
    hit -= choice.weights[choice.chosen];
  }
  const std::size_t place = lie.handles().place(choice.chosen, choices.size() - 1);
  lie.statement.generated.back() = static_cast<std::uint32_t>(lie.trace[lie.handles().ids].values()[place]);
}

TEST(Sampling, thresholds_leave_in_what_they_say) {
  const auto only_catches = [](int within, int kept, const auto& range) {
    Sampled lie = true_sampled();
    std::vector<Choice> choices = lie.choices();
    lie_about_counts(lie, choices, within, kept);
    SCOPED_TRACE(std::to_string(within) + " " + std::to_string(kept));
    only_range_catches(lie, choices, range);
  };
  const SampledPlan& handles = true_sampled().handles();
  only_catches(0, 1, handles.top_low);
  only_catches(0, -1, handles.top_high);
  only_catches(1, 0, handles.near);
  only_catches(-1, 0, handles.far);
}

TEST(Sampling, scores_and_weights_are_those_of_the_logits) {
  const Sampled lie = true_sampled();
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
  Sampled lie = true_sampled();
  const std::size_t row = lie.statement.generated.size() - 1;  // no other one follows from the lie
  change(lie, row);
  std::vector<Choice> choices;
  for (std::size_t g = 0; g < lie.statement.generated.size(); ++g) {
    choices.push_back(
        choose(lie.logits(g), *lie.statement.sampling, lie.handles().widths.shift, odd_prompt.size() + g));
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
    std::swap(entry(lie, 3, row).id, entry(lie, 4, row).id);
    std::swap(entry(lie, 3, row).logit, entry(lie, 4, row).logit);
  };
  expect_rejected(with_candidates(swap), lookup_scope);
  expect_accepted(with_candidates(swap, [](ModelPlan& plan) { widen(plan, plan.logits.sampled->order, 1, true); }));
}

/// A candidate twice and the last one left out, with a difference that fits all: only the order of equal ids says no.
TEST(Sampling, a_candidate_is_listed_once) {
  const auto verdict = [](bool wide) {
    Sampled lie = true_sampled();
    const std::size_t row = lie.statement.generated.size() - 1;
    for (std::size_t j = 11; j > 8; --j) {
      copy(entry(lie, j, row), entry(lie, j - 1, row));  // place 9 is place 8 again, the twelfth best is nowhere
    }
    std::vector<Choice> choices;
    for (std::size_t g = 0; g <= row; ++g) {
      choices.push_back(
          choose(lie.logits(g), *lie.statement.sampling, lie.handles().widths.shift, odd_prompt.size() + g));
    }
    const auto& ids = lie.trace[lie.handles().ids].values();
    for (std::size_t g = 0; g <= row; ++g) {
      lie.statement.generated[g] = static_cast<std::uint32_t>(ids[lie.handles().place(choices[g].chosen, g)]);
    }
    ModelPlan plan = lie.plan();
    if (wide) {
      widen(plan, plan.logits.sampled->order, 1, true);
    }
    Forgery forgery(odd_model(), lie.statement, plan, told_trace(lie));
    tell(forgery, choices);
    ChunkedTensor<std::int64_t>& difference = forgery.zeros(forgery.plan.shapes.logits);
    const auto& own = forgery.trace[static_cast<const Recorded<std::int64_t>&>(lie.handles().logit)].values();
    for (std::size_t g = 0; g <= row; ++g) {
      const std::size_t last = lie.handles().place(11, g);
      for (std::size_t v = 0; v < 300; ++v) {
        const std::int64_t l = block_row(forgery.trace[forgery.plan.logits.values], 0, v)[g];
        std::int64_t listed = 0, below = 0, sum = 0;
        for (std::size_t j = 0; j < 12; ++j) {
          const std::size_t at = lie.handles().place(j, g);
          if (static_cast<std::size_t>(ids[at]) == v) {
            ++listed;
            sum += own[at];
            below += ids[at] < ids[last] ? 1 : 0;
          }
        }
        block_row(difference, 0, v)[g] =
            (1 - listed) * own[last] + sum - ((v < static_cast<std::size_t>(ids[last]) ? 1 : 0) - below) - l;
      }
    }
    forgery.set_range(forgery.plan.logits.difference, difference);
    forgery.recount();
    return verify_inference(plan, odd_model().key, lie.statement, forgery.prove().payload);
  };
  const Verdict narrow = verdict(false);
  const Verdict wide = verdict(true);
  expect_rejected(narrow, lookup_scope);
  expect_accepted(wide);
}

TEST(Sampling, candidates_have_their_own_logits) {
  const auto higher = [](Sampled& lie, std::size_t row) { ++entry(lie, 0, row).logit; };
  expect_rejected(with_candidates(higher), "/final/logits/all");
}

/// A logit that is not its token's, with a difference that fits.
TEST(Sampling, logits_of_candidates_are_products) {
  Sampled lie = true_sampled();
  const std::size_t last = lie.statement.generated.size() - 1;
  ++entry(lie, 11, last).logit;  // beyond J', so that no token changes
  Forgery forgery(odd_model(), lie.statement, lie.plan(), lie.trace);
  const auto& ids = lie.trace[lie.handles().ids].values();
  const auto& own = lie.trace[static_cast<const Recorded<std::int64_t>&>(lie.handles().logit)].values();
  ChunkedTensor<std::int64_t>& difference = forgery.zeros(forgery.plan.shapes.logits);
  for (std::size_t g = 0; g <= last; ++g) {
    const std::size_t bound = lie.handles().place(11, g);
    for (std::size_t v = 0; v < 300; ++v) {
      const std::int64_t logit = block_row(forgery.trace[forgery.plan.logits.values], 0, v)[g];
      block_row(difference, 0, v)[g] = own[bound] - logit - (v < static_cast<std::size_t>(ids[bound]) ? 1 : 0);
    }
    for (std::size_t j = 0; j < 12; ++j) {
      const std::size_t at = lie.handles().place(j, g);
      const auto v = static_cast<std::size_t>(ids[at]);
      block_row(difference, 0, v)[g] = own[at] - block_row(forgery.trace[forgery.plan.logits.values], 0, v)[g];
    }
  }
  forgery.set_range(forgery.plan.logits.difference, difference);
  forgery.recount();
  expect_rejected(verify_inference(odd_model().key, lie.statement, forgery.prove().payload), "/final/logits/chosen");
}

/// Each value that is in its range, but another one.
TEST(Sampling, every_value_is_bound) {
  const SampledPlan& handles = true_sampled().handles();
  const auto reason = [&](const std::function<void(Forgery&)>& change) {
    Sampled lie = true_sampled();
    Forgery forgery(odd_model(), lie.statement, lie.plan(), std::move(lie.trace));
    change(forgery);
    const Verdict verdict = verdict_of(forgery);
    EXPECT_EQ(verdict.scope, sampling_scope);
    return verdict.reason;
  };
  const auto of = [&](const Derived& tensor, std::size_t place) {
    return reason([&, place](Forgery& forgery) {
      ++(*forgery.witness)[tensor].values()[place];
      forgery.witness->finish(odd_model().comm, OutOfRange::skip);
    });
  };
  const std::string order = "candidates are not in order";
  EXPECT_EQ(of(handles.order, handles.place(2, 1)), order);
  EXPECT_EQ(of(handles.order, handles.place(11, 1)), order);  // the last one, which has none behind it
  EXPECT_EQ(of(handles.order, handles.place(13, 1)), order);  // padding
  EXPECT_EQ(of(handles.near, 4), "a candidate counts beyond the cut-off");
  EXPECT_EQ(of(handles.far, 4), "a candidate within the cut-off does not count");
  EXPECT_EQ(of(handles.far, 0), "a candidate within the cut-off does not count");  // all of that row do
  EXPECT_EQ(of(handles.top_low, 2), "more candidates are kept than needed");
  EXPECT_EQ(of(handles.top_high, 2), "fewer candidates are kept than needed");
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    EXPECT_EQ(of(handles.quotient[i], 3), "a limb of the random number times the weights is another");
    EXPECT_EQ(of(handles.limb_remainder[i], 3), "a limb of the random number times the weights is another");
  }
  EXPECT_EQ(of(handles.low, 1), "the random number lies before a generated token");
  EXPECT_EQ(of(handles.high, 1), "the random number lies behind a generated token");
  EXPECT_EQ(of(handles.low, 6), "the random number lies before a generated token");  // padding
  // a candidate that does not count looks up another row whose weight is 0
  EXPECT_EQ(reason([&](Forgery& forgery) {
              forgery.set_input(handles.weight, 0, handles.place(11, 4), far_distance + 1);
              forgery.recount();
            }),
            "distances of candidates are others");
}

TEST(Sampling, what_is_said_in_clear_is_checked) {
  const Part part = prove_part(odd_model(), nullptr, sampled(list_sampling()));
  const auto offset_of = [&](std::string_view label) {
    return std::ranges::find_if(part.messages, [&](const Message& message) { return message.label == label; })->offset;
  };
  /// With other bytes in a message.
  const auto reason = [&](std::string_view label, std::size_t at, const std::vector<std::uint8_t>& bytes) {
    std::vector<std::uint8_t> payload = part.payload;
    std::ranges::copy(bytes, payload.begin() + static_cast<std::ptrdiff_t>(offset_of(label) + at));
    const Verdict verdict = verify_inference(odd_model().key, part.statement, payload);
    EXPECT_FALSE(verdict.accepted);
    return verdict.reason;
  };
  const std::string no_token = "a candidate that is no token";
  EXPECT_EQ(reason("candidates", 20, {300 % 256, 1, 0, 0}), no_token);
  EXPECT_EQ(reason("candidates", 23, {0x80}), no_token);
  const std::string order = "counts of candidates out of order";
  EXPECT_EQ(reason("counts", 6, {0, 0}), order);        // J of the second row
  EXPECT_EQ(reason("counts", 4, {1, 0, 2, 0}), order);  // J above J'
  EXPECT_EQ(reason("counts", 4, {13, 0}), order);       // J' above k
  EXPECT_EQ(reason("counts", 5, {1}), order);           // likewise
  const std::string none = "a generated token is none of the candidates that are kept";
  EXPECT_EQ(reason("counts", 18, {7, 0}), none);  // the last row's is the eighth
  EXPECT_NE(reason("counts", 18, {8, 0}), none);
  EXPECT_EQ(reason("candidates", 4 * (4 * 12 + 7), {7, 0, 0, 0}), none);
}

TEST(Sampling, widths_leave_no_room) {
  const ModelPlan plan = true_sampled().plan();
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
  const Statement whole = true_sampled().statement;
  for (const std::uint32_t pass_length : {0U, 4U}) {
    Statement first = statement_after(nullptr, odd_prompt, true);
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
  Statement statement = sampled(list_sampling(), 2);
  expect_altered_messages_rejected(odd_model(), prove_part(odd_model(), nullptr, statement));
}

}  // namespace
}  // namespace tessera::test
