#include "architecture/draft.hpp"

#include <gtest/gtest.h>

#include "cluster/thread_communicator.hpp"
#include "integer_model/integer_model.hpp"

#include "../model/saturated_models.hpp"
#include "naive_inference.hpp"

namespace tessera::test {
namespace {

using Tokens = std::vector<std::uint32_t>;

TEST(Draft, guesses_what_followed_the_latest_place_of_the_last_ids) {
  const Draft draft;
  EXPECT_EQ(draft.next(Tokens{1, 2, 9, 1, 2, 8, 5, 1, 2}, 3), (Tokens{8, 5, 1}));
  EXPECT_EQ(draft.next(Tokens{4, 1, 2, 9, 5, 1, 2, 8, 4, 1, 2}, 1), (Tokens{9}));  // more of the same before it
  EXPECT_EQ(draft.next(Tokens{7, 7, 7}, 2), (Tokens{7, 7}));
  EXPECT_EQ(draft.next(Tokens{1, 2, 3, 2}, 3), Tokens());
  EXPECT_EQ(draft.next(Tokens{1}, 3), Tokens());
  EXPECT_EQ(draft.next(Tokens{1, 1, 1}, 0), Tokens());
}

TEST(Draft, guesses_more_while_they_are_right) {
  Draft draft;
  const Tokens ids(10, 7);
  EXPECT_EQ(draft.next(ids, 100).size(), 3U);
  draft.learn(3, 3);
  EXPECT_EQ(draft.next(ids, 100).size(), 6U);
  draft.learn(6, 6);
  EXPECT_EQ(draft.next(ids, 100).size(), Draft::most);
  draft.learn(7, 1);
  EXPECT_EQ(draft.next(ids, 100).size(), 2U);
  draft.learn(2, 0);
  EXPECT_EQ(draft.next(ids, 100).size(), 1U);
  draft.learn(0, 0);
  EXPECT_EQ(draft.next(ids, 100).size(), 1U);
}

/// The model's trace whatever is guessed, on one rank, on three, and on more than there are heads.
class Guesses : public ::testing::Test {
 protected:
  void expect_same_trace(const IntegerModel& integers, const std::function<Tokens(std::size_t next)>& guess,
                         std::size_t count = generate) {
    const ModelPlan plan = ModelPlan::of(integers.key, prompt_.size(), count);
    for (const int ranks : {1, 3, 7}) {
      run_ranks(ranks, [&](Communicator& comm) {
        const auto run = [&](const Generation& generation) {
          return run_inference(integers, plan, prompt_, comm, {}, {}, generation);
        };
        const Trace plain = run({.guess = [](auto, std::size_t) { return Tokens(); }});
        std::vector<std::size_t> lengths;
        const Trace guessed = run({.chosen = [&](auto ids) { lengths.push_back(ids.size()); },
                                   .guess =
                                       [&](auto all, std::size_t limit) {
                                         Tokens ids = guess(all.size());
                                         ids.resize(std::min(ids.size(), limit));
                                         return ids;
                                       }});
        EXPECT_EQ(guessed.tokens, plain.tokens);
        EXPECT_EQ(guessed.exceptions, plain.exceptions);
        for (std::size_t i = 0; i < plan.recorded.size(); ++i) {
          std::visit(
              [&](const auto& x) {
                EXPECT_TRUE(x.values() == (std::get<std::decay_t<decltype(x)>>(guessed.tensors[i]).values()))
                    << plan.recorded[i].name;
              },
              plain.tensors[i]);
        }
        if (comm.rank() == 0) {
          passes_ = lengths;
        }
      });
    }
  }
  static constexpr std::size_t generate = 9;
  RandomModel generator_{11};
  Tokens prompt_ = generator_.tokens(12, 300);
  std::vector<std::size_t> passes_;  // tokens chosen after each
};

TEST_F(Guesses, right_ones_count_and_wrong_ones_leave_no_trace) {
  const Model model = generator_.make({2, 36, 3, 144, 300, 48});
  const IntegerModel integers = integer_model(model);
  SelfCommunicator self;
  const Trace trace = infer(integers, prompt_, generate, self);
  const auto right = [&](std::size_t from, std::size_t count) {
    const auto at = trace.tokens.begin() + static_cast<std::ptrdiff_t>(from);
    return Tokens(at, at + static_cast<std::ptrdiff_t>(count));
  };
  expect_same_trace(integers, [&](std::size_t next) {
    return right(next, std::min<std::size_t>(3, prompt_.size() + generate - next));
  });
  EXPECT_EQ(passes_, (std::vector<std::size_t>{1, 5, 9}));
  expect_same_trace(integers, [&](std::size_t next) {
    Tokens ids = right(next, std::min<std::size_t>(4, prompt_.size() + generate - next));
    ids[std::min<std::size_t>(1, ids.size() - 1)] ^= 1U;
    return ids;
  });
  EXPECT_EQ(passes_, (std::vector<std::size_t>{1, 3, 5, 7, 9}));
  expect_same_trace(integers, [&](std::size_t next) { return Tokens(4, trace.tokens[next] ^ 1U); });
  EXPECT_EQ(passes_.size(), generate);
}

/// Rows of right guesses are shared by a team like the prompt's, those of wrong ones are nobody's: of eight guesses
/// another number is right each time.
TEST_F(Guesses, teams_share_rows_that_are_right) {
  const Model model = generator_.make({2, 32, 2, 128, 300, 64});
  const IntegerModel integers = integer_model(model);
  constexpr std::size_t count = 30, guesses = 8;
  ASSERT_TRUE(ModelPlan::of(integers.key, prompt_.size(), count).has_teams(7));
  SelfCommunicator self;
  const Trace trace = infer(integers, prompt_, count, self);
  for (const std::size_t seed : {0, 1, 2, 3}) {
    const auto guess = [&](std::size_t next) {
      Tokens ids(guesses, 0);
      for (std::size_t i = 0; i < guesses && next + i < trace.tokens.size(); ++i) {
        ids[i] = trace.tokens[next + i] ^ (i >= (next * 7 + seed) % 6 ? 1U : 0U);
      }
      return ids;
    };
    expect_same_trace(integers, guess, count);
  }
}

/// A guess whose row leaves the range is no reason to stop.
TEST_F(Guesses, a_row_out_of_range_that_nobody_asked_for_is_forgotten) {
  Model model = generator_.make({2, 36, 3, 144, 300, 48});
  // the first feature of token `bad` is the only one that is not 0: normalised it is larger than anybody else's
  const std::uint32_t bad = 299;
  std::ranges::fill(model.parameters[embedding].values().subspan(bad * 36, 36), std::int16_t{0});
  model.parameters[embedding].values()[bad * 36] = 32767;
  SelfCommunicator self;
  const auto without_exceptions = [&] {
    IntegerModel integers = integer_model(model);
    integers.key.exceptions = 0;
    return integers;
  };
  const auto stays_in_range = [&](const Tokens& prompt, std::size_t count) {
    try {
      infer(without_exceptions(), prompt, count, self);
      return true;
    } catch (const RangeError&) {
      return false;
    }
  };
  for (std::int16_t gain = 100; stays_in_range({bad}, 1); gain = static_cast<std::int16_t>(gain + gain / 8)) {
    ASSERT_LT(gain, 28000);
    model.parameters[gamma1].values()[0] = gain;
  }
  ASSERT_TRUE(stays_in_range(prompt_, generate));
  const IntegerModel integers = without_exceptions();
  expect_same_trace(integers, [&](std::size_t) { return Tokens{bad}; });
  EXPECT_EQ(passes_.size(), generate);
}

/// Exceptions of rows that nobody asked for go with them, whoever has listed them; a guess that has more than the key
/// allows is no reason to stop.
TEST_F(Guesses, exceptions_of_wrong_ones_are_forgotten) {
  const Model model = saturated_gpt2();
  IntegerModel integers = integer_model(model);
  SelfCommunicator self;
  const Trace trace = infer(integers, prompt_, generate, self);
  const std::size_t all = total(counts_of(trace.exceptions));
  ASSERT_GT(all, 50U);
  for (const std::uint32_t limit : {default_exceptions, static_cast<std::uint32_t>(all)}) {
    integers.key.exceptions = limit;
    expect_same_trace(integers, [&](std::size_t next) {
      Tokens ids(3, 0);
      for (std::size_t i = 0; i < ids.size() && next + i < trace.tokens.size(); ++i) {
        ids[i] = trace.tokens[next + i] ^ (i < next % 3 ? 0U : 1U);
      }
      return ids;
    });
  }
}

}  // namespace
}  // namespace tessera::test
