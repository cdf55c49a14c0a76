// One proof of several passes: how the rows are cut into passes changes no integer, and every lie about it is seen.

#include <gtest/gtest.h>

#include "../golden/golden_import.hpp"
#include "integer_model/integer_model.hpp"
#include "parts.hpp"

namespace tessera::test {
namespace {

Statement passes_of(std::uint32_t length, const Part* before, Ids prompt, std::size_t generate, bool keeps = false) {
  Statement statement = statement_after(before, std::move(prompt), keeps);
  statement.generated.resize(generate);
  statement.pass_length = length;
  return statement;
}

/// 13 rows, 16 with the filler.
Part beginning(std::uint32_t length, bool keeps = false, const PlanChange& change = {}) {
  TestModel& test = odd_model();
  return prove_part(test, nullptr, passes_of(length, nullptr, odd_prompt, 5, keeps), change);
}
const Part& before() {
  static const Part part = beginning(0, true);
  return part;
}
/// 8 rows after the 12 positions of before().
Part continuation(std::uint32_t length, bool keeps = false, const PlanChange& change = {}) {
  return prove_part(odd_model(), &before(), passes_of(length, &before(), {64, 31, 8}, 5, keeps), change);
}

/// 8 rows after 124 positions: the fifth is the first to see a key of the ninth tile.
const Part& long_past() {
  static const Part part = [] {
    Ids prompt(124);
    for (std::size_t i = 0; i < prompt.size(); ++i) {
      prompt[i] = static_cast<std::uint32_t>((i * 37 + 11) % 500);
    }
    return prove_part(gutenberg_model(), nullptr, prompt, 1, true);
  }();
  return part;
}
Part over_two_tiles(std::uint32_t length, const PlanChange& change = {}) {
  return prove_part(gutenberg_model(), &long_past(), passes_of(length, &long_past(), {5, 6, 7}, 5), change);
}

/// All that inference records is the same, of the scores the keys that a query sees.
void expect_same_integers(const Part& a, const ModelPlan& plan_a, const Part& b, const ModelPlan& plan_b) {
  EXPECT_EQ(a.trace.tokens, b.trace.tokens);
  EXPECT_EQ(a.statement.generated, b.statement.generated);
  ASSERT_EQ(plan_a.recorded.size(), plan_b.recorded.size());
  const auto same = [&]<class T>(const ChunkedTensor<T>& x, const ChunkedTensor<T>& y) {
    if (x.shape() == y.shape()) {
      return x.values() == y.values();
    }
    bool equal = place_count(x.shape()) == place_count(y.shape());
    for (std::uint64_t place = 0; equal && place < place_count(x.shape()); ++place) {
      const std::vector<std::size_t> indices = place_indices(x.shape(), place);
      if (x.shape().presence() == Presence::causal && indices.back() > x.shape().past() + indices.end()[-2]) {
        continue;
      }
      const auto at = [place](const ChunkedTensor<T>& tensor) {
        const auto [chunk, inner] = chunk_place(tensor.shape(), place);
        return tensor.chunk(chunk)[inner];
      };
      equal = at(x) == at(y);
    }
    return equal;
  };
  for (std::size_t i = 0; i < plan_a.recorded.size(); ++i) {
    std::visit(
        [&](const auto& tensor) {
          EXPECT_TRUE(same(tensor, std::get<std::decay_t<decltype(tensor)>>(b.trace.tensors[i])))
              << plan_a.recorded[i].name;
        },
        a.trace.tensors[i]);
  }
}

/// Proves the same with passes of several lengths.
void expect_same_for_all_lengths(TestModel& test, const std::function<Part(std::uint32_t)>& prove) {
  const Part whole = prove(0);
  const ModelPlan plan = ModelPlan::of(test.key, whole.statement);
  for (const std::uint32_t length : {1, 2, 4, 16, 128}) {
    const Part part = prove(length);
    const Verdict verdict = verify(test, part);
    expect_accepted(verdict);
    EXPECT_EQ(verdict.kept, whole.kept) << length;
    expect_same_integers(part, ModelPlan::of(test.key, part.statement), whole, plan);
  }
}

TEST(Passes, of_a_beginning) {
  expect_same_for_all_lengths(odd_model(), [](std::uint32_t length) { return beginning(length, true); });
}
TEST(Passes, of_a_continuation) {
  expect_same_for_all_lengths(odd_model(), [](std::uint32_t length) { return continuation(length, true); });
}
TEST(Passes, over_two_key_tiles) {
  expect_same_for_all_lengths(gutenberg_model(), [](std::uint32_t length) { return over_two_tiles(length); });
}
TEST(Passes, one_row_after_another) {
  TestModel& test = odd_model();
  Part last = prove_part(test, nullptr, passes_of(1, nullptr, {17}, 1, true));
  for (const std::uint32_t length : {1, 0, 1}) {
    Part part = prove_part(test, &last, passes_of(length, &last, {}, 1, true));
    expect_accepted(verify(test, part));
    last = std::move(part);
  }
}

TEST(Passes, a_pass_has_the_key_tiles_that_it_reads) {
  const ModelPlan plan = ModelPlan::of(make_verifying_key(golden::import_bundled("gutenberg-2m").model),
                                       {.prompt = 3, .generated = 5, .past = 124, .pass_length = 1});
  const Shape& scores = plan.shapes.scores;
  ASSERT_EQ(scores.dimensions()[3].chunk_count(), 8U);
  for (std::size_t pass = 0; pass < 8; ++pass) {
    EXPECT_EQ(scores.key_tiles(pass), pass < 4 ? 16U : 17U);  // of 8 keys
  }
  EXPECT_EQ(scores.chunk_count(), 4U * 6U * 4U * (16 + 17));
}

// What a statement says of its passes.

TEST(Passes, of_no_length) {
  for (const std::uint32_t length : {3U, 6U, 127U, 129U, 256U, 1U << 31, UINT32_MAX}) {
    Part part = before();
    part.statement.pass_length = length;
    const Verdict verdict = verify(odd_model(), part);
    expect_rejected(verdict, "/statement");
    EXPECT_NE(verdict.reason.find("pass_length"), std::string::npos) << verdict.reason;
  }
}
TEST(Passes, of_another_length_than_the_statement_says) {
  for (const std::uint32_t made : {0, 1, 4, 16}) {
    Part part = continuation(made);
    expect_accepted(verify(odd_model(), part));
    for (const std::uint32_t told : {0, 1, 2, 4, 8, 16, 128}) {
      if (told != made) {
        part.statement.pass_length = told;
        EXPECT_FALSE(verify(odd_model(), part).accepted) << made << ", " << told;
      }
    }
  }
}
TEST(Passes, proven_with_another_length_than_the_statement_says) {  // but with the statement's seed
  for (const std::uint32_t told : {0, 1, 4}) {
    for (const std::size_t made : {0, 1, 2, 4}) {
      const auto other = [&](ModelPlan& plan) {
        PassShape pass = plan.pass;
        pass.pass_length = made;
        plan = ModelPlan::of(odd_model().key, pass);
      };
      EXPECT_EQ(verify(odd_model(), continuation(told, false, other)).accepted, told == made) << told << ", " << made;
      EXPECT_EQ(verify(odd_model(), beginning(told, false, other)).accepted, told == made) << told << ", " << made;
    }
  }
}

// Passes that are computed and proven by other rules, checked by the true ones.

TEST(Passes, mask_shows_a_future_key) {
  // all queries in one tile, whose tiles of keys have room for one more
  const Part part = continuation(8, false, [](ModelPlan& plan) { plan.attention.past += 1; });
  expect_rejected(verify(odd_model(), part), "/self_attention/attention/values");
}
TEST(Passes, mask_hides_a_past_key) {
  for (const std::uint32_t length : {1, 4}) {
    const Part part = continuation(length, false, [](ModelPlan& plan) { plan.attention.past -= 1; });
    expect_rejected(verify(odd_model(), part), "/self_attention/attention/mask");
  }
}

TEST(SlowPasses, hidden_a_past_tile) {
  const Part part = over_two_tiles(1, [](ModelPlan& plan) {
    shift_tiles(plan, -1);
    plan.attention.past -= 1;
  });
  expect_rejected(verify(gutenberg_model(), part), "/lookup");
}
TEST(SlowPasses, shown_a_future_tile) {
  const Part part = over_two_tiles(1, [](ModelPlan& plan) {
    shift_tiles(plan, 1);
    plan.attention.past += 1;
  });
  expect_rejected(verify(gutenberg_model(), part), "/lookup");
}
TEST(SlowPasses, shown_a_future_tile_that_is_masked) {
  const Part part = over_two_tiles(1, [](ModelPlan& plan) { shift_tiles(plan, 1); });
  expect_rejected(verify(gutenberg_model(), part), "/lookup");
}
// the same at the border of two tiles, with all tiles in their places
TEST(SlowPasses, the_first_key_of_a_tile_hidden) {
  const Part part = over_two_tiles(1, [](ModelPlan& plan) { plan.attention.past -= 1; });
  expect_rejected(verify(gutenberg_model(), part), "/self_attention/attention/mask");
}

TEST(Passes, every_altered_message_is_rejected) {
  expect_altered_messages_rejected(odd_model(), continuation(1, true));
}

}  // namespace
}  // namespace tessera::test
