// Lies about capped scores: z' = CAP[z + 2^15], which soft-max takes in the place of z.

#include <gtest/gtest.h>

#include "arithmetic/tables.hpp"
#include "transcript/soundness.hpp"

#include "llama_fixture.hpp"
#include "saturation_runs.hpp"

namespace tessera::test {
namespace {

const std::string attention_scope = "/self_attention/attention";
constexpr std::size_t side = llama_tokens;  // one tile a head

TestModel& test_model() { return family_model(capped_scores); }

const ModelPlan& true_plan() {
  static const ModelPlan plan = llama_plan(test_model().key);
  return plan;
}

/// A score of one head.
struct Place {
  std::size_t block = 0, head = 0, query = 0, key = 0;
  [[nodiscard]] std::size_t chunk() const {
    const ModelShape& shape = test_model().model.shape;
    return true_plan().attention.scores.chunk_at(
        std::array{block, head / shape.group(), head % shape.group(), std::size_t{0}, std::size_t{0}});
  }
  [[nodiscard]] std::size_t inner() const { return query * side + key; }
  /// Among the scores of the plan.
  [[nodiscard]] std::uint64_t number() const {
    return (chunk() * side + query) * true_plan().attention.scores.dimensions()[4].length + key;
  }
  template <class T>
  [[nodiscard]] T& in(ChunkedTensor<T>& tensor) const {
    return tensor.chunk(chunk())[inner()];
  }
};

/// A score that may be `by` more, in units of z', with the same weight in its row, and is no maximum.
Place insensitive_place(Trace& trace, const std::function<std::int64_t(const Place&)>& by) {
  const AttentionPlan& attention = true_plan().attention;
  const std::vector<std::int32_t>& table = test_model().key.exp_table;
  const ModelShape& shape = test_model().model.shape;
  for (std::size_t block = 0; block < shape.n_layer; ++block) {
    for (std::size_t head = 0; head < shape.n_head; ++head) {
      for (std::size_t query = 0; query < side; ++query) {
        for (std::size_t key = attention.scores.first_key(block, query); key <= query; ++key) {
          const Place place{block, head, query, key};
          const std::int64_t maximum = trace[attention.row_max].values()[place.chunk() * side + query];
          const std::int64_t before = maximum - place.in(trace[*attention.capped]);
          const std::int64_t after = before - by(place);
          if (before > 0 && after > 0 && before != after &&
              table[static_cast<std::size_t>(before)] == table[static_cast<std::size_t>(after)]) {
            return place;
          }
        }
      }
    }
  }
  ADD_FAILURE() << "no such place";
  return {};
}

Forgery capped_forgery() {
  LlamaLie told = llama_inference(test_model(), true_plan());
  return {test_model(), std::move(told.statement), true_plan(), std::move(told.trace)};
}

/// A forgery of a true inference whose trace is changed.
Forgery forge(const std::function<void(Trace&)>& change, ExceptionLists lists = {}) {
  LlamaLie told = llama_inference(test_model(), true_plan());
  change(told.trace);
  if (!lists.empty()) {
    told.trace.exceptions = std::move(lists);
  }
  return {test_model(), std::move(told.statement), true_plan(), std::move(told.trace)};
}

std::int32_t cap_of(std::int32_t score) { return capped_score(test_model().key.cap_table, score); }

TEST(ScoreCap, caps_what_the_tests_are_about) {
  Forgery forgery = capped_forgery();
  const AttentionPlan& attention = true_plan().attention;
  const Exponents& e = test_model().model.exponents;
  std::size_t bent = 0;
  for (std::size_t x = 0; x < forgery.trace[attention.score].values().size(); ++x) {
    const std::int32_t z = forgery.trace[attention.score].values()[x];
    const std::int32_t capped = forgery.trace[*attention.capped].values()[x];
    EXPECT_EQ(capped, cap_of(z));
    bent += std::abs(std::ldexp(z, -e[scales::uncapped]) - std::ldexp(capped, -e[scales::score])) > 0.1 ? 1 : 0;
  }
  EXPECT_GT(bent, 20U);
  expect_accepted(verdict_of(forgery, true_plan()));
}

/// z' one more or less, with a weight that fits it: the table alone sees it.
TEST(ScoreCap, a_capped_value_beside_the_table_s_is_rejected) {
  for (const std::int32_t by : {-1, 1}) {
    Forgery forgery = forge([&](Trace& trace) {
      insensitive_place(trace, [&](const Place&) { return by; }).in(trace[*true_plan().attention.capped]) += by;
    });
    expect_rejected(verdict_of(forgery, true_plan()), lookup_scope);
  }
}

/// z and z' are those of another product: the scores' sum-check sees it.
TEST(ScoreCap, the_capped_value_of_another_score_is_rejected) {
  const AttentionPlan& attention = true_plan().attention;
  for (const std::int32_t by : {-1, 1, 2}) {
    Forgery forgery = forge([&](Trace& trace) {
      const Place place = insensitive_place(trace, [&](const Place& at) {
        return cap_of(at.in(trace[attention.score]) + by) - at.in(trace[*attention.capped]);
      });
      place.in(trace[attention.score]) += by;
      place.in(trace[*attention.capped]) = cap_of(place.in(trace[attention.score]));
    });
    expect_rejected(verdict_of(forgery, true_plan()), attention_scope + "/mask");
  }
}

/// Soft-max takes the scores as they are, with distances and weights that fit them; what they would be with a cap is
/// committed, and looked up, beside them.
TEST(ScoreCap, scores_that_are_not_capped_are_rejected) {
  const AttentionPlan& attention = true_plan().attention;
  ModelPlan without = true_plan();
  const std::vector<std::int32_t> line =
      cap_table(500, test_model().model.exponents[scales::uncapped], test_model().model.exponents[scales::score]);
  without.lookup.tables[*attention.cap_table].values.assign(line.begin(), line.end());
  LlamaLie told = llama_inference(test_model(), without);
  const ChunkedTensor<std::int32_t> taken = told.trace[*attention.capped];
  std::ranges::transform(told.trace[attention.score].values(), told.trace[*attention.capped].values().begin(), cap_of);
  Forgery forgery(test_model(), std::move(told.statement), true_plan(), std::move(told.trace));
  const ChunkedTensor<std::int32_t>& capped = forgery.trace[*attention.capped];
  LookupColumnData& distances = forgery.witness->columns[attention.exponential.column];
  distances.in_place = {};
  distances.read = [&, honest = distances.read](std::size_t chunk, std::span<std::uint32_t> a,
                                                std::span<std::int32_t> b) {
    honest(chunk, a, b);
    for (std::size_t x = 0; x < a.size(); ++x) {
      a[x] += static_cast<std::uint32_t>(capped.chunk(chunk)[x] - taken.chunk(chunk)[x]);
    }
  };
  forgery.recount();
  const Verdict verdict = verdict_of(forgery, true_plan());
  expect_rejected(verdict, attention_scope);
  expect_reason(verdict, "capped scores do not match their distances from the maximum");
}

/// Places above the diagonal, and before a window: z is 0 there, and a cap does not hide another one.
TEST(ScoreCap, masked_places_have_no_score) {
  const AttentionPlan& attention = true_plan().attention;
  for (const Place& place : {Place{1, 2, 3, 4}, Place{0, 1, 0, 7}, Place{2, 3, 6, 2}, Place{0, 0, 7, 0}}) {
    ASSERT_TRUE(place.key > place.query || place.key < attention.scores.first_key(place.block, place.query));
    for (const std::int32_t score : {-1, 32767}) {
      Forgery forgery = forge([&](Trace& trace) {
        place.in(trace[attention.score]) = score;
        place.in(trace[*attention.capped]) = cap_of(score);
      });
      expect_rejected(verdict_of(forgery, true_plan()), attention_scope + "/mask");
    }
    // what is there with a cap of its own
    Forgery forgery = forge([&](Trace& trace) { place.in(trace[*attention.capped]) = 1; });
    expect_rejected(verdict_of(forgery, true_plan()), lookup_scope);
  }
}

// Values beyond 16 bits.

std::size_t score_list(const ModelPlan& plan) { return list_number(plan, "score"); }

/// A score in range is given away for an entry: only the claim that it is at its limit sees it.
TEST(ScoreCap, a_listed_score_is_at_its_limit) {
  const AttentionPlan& attention = true_plan().attention;
  for (const std::int32_t by : {-1, 1}) {
    Place place;
    Forgery forgery = forge([&](Trace& trace) {
      place = insensitive_place(trace, [&](const Place& at) {
        return cap_of(at.in(trace[attention.score]) + by) - at.in(trace[*attention.capped]);
      });
      place.in(trace[attention.score]) += by;
      place.in(trace[*attention.capped]) = cap_of(place.in(trace[attention.score]));
      trace.exceptions.resize(true_plan().clamped.size());
      trace.exceptions[score_list(true_plan())] = {{place.number(), -by}};
    });
    expect_rejected(verdict_of(forgery, true_plan()), attention_scope + "/reduce");
  }
}

/// A model whose scores before the cap are too fine for 16 bits.
TestModel& saturated_scores() {
  static TestModel test([] {
    Model model = test_model().model;
    model.exponents[scales::uncapped] = 14;
    return model;
  }());
  return test;
}

Told saturated_run() { return {saturated_scores(), llama_prompt, llama_generated}; }

TEST(ScoreCap, clamped_scores_are_listed) {
  const Told run = saturated_run();
  const Verdict verdict = run.verdict();
  expect_accepted(verdict);
  EXPECT_GT(clamped_counts(verdict)["score"], 4U);
  std::size_t limits = 0;
  for (const std::int32_t z : run.trace[run.plan.attention.score].values()) {
    limits += z == INT16_MAX || z == INT16_MIN ? 1 : 0;
  }
  EXPECT_GE(limits, clamped_counts(verdict)["score"]);
}

TEST(ScoreCap, lies_about_clamped_scores_are_rejected) {
  const auto reject = [](const char* what, const std::string& scope, const auto& lie) {
    SCOPED_TRACE(what);
    Told run = saturated_run();
    lie(run.entries("score"));
    expect_rejected(run.verdict(), scope);
  };
  using List = std::vector<Exception>;
  reject("an entry left out", attention_scope + "/mask", [](List& list) { list.erase(list.begin() + 1); });
  reject("no list", attention_scope + "/mask", [](List& list) { list.clear(); });
  reject("an excess off by one", attention_scope + "/mask",
         [](List& list) { list.front().excess += list.front().excess > 0 ? 1 : -1; });
  reject("an excess of the other sign", attention_scope + "/reduce",
         [](List& list) { list.back().excess = -list.back().excess; });
}

TEST(ScoreCap, masked_places_are_not_listed) {
  Told run = saturated_run();
  const std::size_t keys = run.plan.attention.scores.dimensions()[4].length;
  for (const std::uint64_t place : {std::uint64_t{1}, std::uint64_t{7 * keys}, std::uint64_t{3 * keys + 5}}) {
    const ClampedTensor& tensor = run.plan.clamped[run.list("score")];
    EXPECT_STREQ(fault_of(tensor, {place, 1}), "an exception outside its tensor") << place;
  }
  Forgery forgery = run.forge();
  forgery.witness->exceptions[run.list("score")] = {{1, 5}};
  const Verdict verdict = run.verdict(forgery);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_EQ(verdict.reason, "an exception outside its tensor");
}

// What the verifier writes down of errors.

TEST(ScoreCap, errors_are_counted) {
  std::map<std::string, double> found;
  for (const SoundnessEntry& entry : soundness_report(true_plan(), test_model().key).entries) {
    found[entry.scope] += std::exp2(128 - entry.bits);
  }
  const double scores = true_plan().attention.scores.bits();
  const double y = true_plan().attention.head_feature.bits();
  const double rows = true_plan().attention.rows.bits();
  // the sum-check of O*R over rows, places beside it, and z' beside its distance at the look-up point
  EXPECT_NEAR(found[attention_scope], 3 * rows + (y - rows) + scores, 1e-3);
  // two claims on y, and on z
  EXPECT_NEAR(found[attention_scope + "/reduce"], 2 * y + 1 + 2 * scores + 1, 1e-3);
}

}  // namespace
}  // namespace tessera::test
