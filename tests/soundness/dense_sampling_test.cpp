// Tokens sampled from the whole vocabulary: each number that decides about one is what the statement says it is.

#include <gtest/gtest.h>

#include <numeric>

#include "integer_model/integer_model.hpp"
#include "sampled_statement.hpp"

namespace tessera::test {
namespace {

const std::string attained_scope = sampling_scope + "/attained";
constexpr std::size_t odd_vocabulary = 300;
constexpr std::size_t last_row = 4;  // the last of five rows: no other one follows from a lie about it

Sampling dense_sampling() {
  // a flat distribution from which min-p leaves something out
  Sampling sampling{.inverse_temperature = 600, .top_k = 0, .top_p = top_p_unit, .cutoff = 3500, .seed = {}};
  sampling.seed.fill(3);
  return sampling;
}

const Statement& dense_statement() {
  static const Statement statement = [] {
    Statement made = sampled(dense_sampling());
    trace_of(odd_model(), made);
    return made;
  }();
  return statement;
}

const ModelPlan& honest_plan() {
  static const ModelPlan plan = ModelPlan::of(odd_model().key, dense_statement());
  return plan;
}
const DensePlan& handles() { return *honest_plan().logits.dense; }

/// What a liar changes.
struct DenseLie {
  std::function<void(Forgery&)> values = {};   // tensors over (V,G), before sums are made of them
  std::function<void(Forgery&)> columns = {};  // all the rest
  std::optional<std::uint32_t> token = {};     // the last one; none: what the liar's weights draw
};

std::int64_t& cell(ChunkedTensor<std::int64_t>& tensor, std::size_t token, std::size_t row) {
  return block_row(tensor, 0, token)[row];
}
std::int64_t& cell(Forgery& forgery, const Derived& tensor, std::size_t token, std::size_t row) {
  return cell((*forgery.witness)[tensor], token, row);
}

/// Chunk and place of a cell of (V,G).
ChunkPlace place_of(const Forgery& forgery, std::size_t token, std::size_t row) {
  const Shape& shape = forgery.plan.logits.logits;
  const Dimension& tokens = shape.dimensions()[0];
  return {shape.chunk_at(std::vector<std::size_t>{token >> tokens.log_chunk, row}), token & (tokens.chunk() - 1)};
}

std::int64_t logit(Forgery& forgery, std::size_t token, std::size_t row) {
  return cell(forgery.trace[forgery.plan.logits.values], token, row);
}
std::int64_t score(Forgery& forgery, std::size_t token, std::size_t row) {
  return score_of(logit(forgery, token, row), *forgery.statement.sampling, handles().widths.shift);
}
std::int64_t maximum(Forgery& forgery, std::size_t row) { return (*forgery.witness)[handles().maximum].values()[row]; }
/// The tokens of the last row, the best ones first.
Ids ranking(Forgery& forgery) {
  Ids ids(odd_vocabulary);
  std::iota(ids.begin(), ids.end(), 0U);
  std::ranges::stable_sort(ids, std::greater<>(), [&](std::uint32_t id) { return score(forgery, id, last_row); });
  return ids;
}

/// What the weights as they are draw in the last row.
std::uint32_t drawn(Forgery& forgery) {
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < odd_vocabulary; ++v) {
    sum += cell(forgery, handles().weight, v, last_row);
  }
  const std::uint64_t uniform = uniform_at(forgery.statement.sampling->seed, odd_prompt.size() + last_row);
  std::int64_t left = hit_of(limbs_of(uniform), sum).value();
  std::uint32_t token = 0;
  for (; left >= cell(forgery, handles().weight, token, last_row); ++token) {
    left -= cell(forgery, handles().weight, token, last_row);
  }
  return token;
}

/// Proves as the liar says by the plan as it is changed, and verifies likewise.
Verdict verdict_on(const DenseLie& lie, const PlanChange& change = {}) {
  TestModel& test = odd_model();
  Statement statement = dense_statement();
  for (const bool ready : {false, true}) {  // the token first
    ModelPlan plan = ModelPlan::of(test.key, statement);
    // the last token has a row, too, which nothing comes of
    Trace trace = run_one_pass(test.integers, plan, odd_prompt, statement.generated, test.comm);
    if (change) {
      change(plan);
    }
    Forgery forgery(test, statement, plan, std::move(trace));
    if (lie.values) {
      lie.values(forgery);
    }
    if (!ready) {
      statement.generated[last_row] = lie.token.value_or(drawn(forgery));
      continue;
    }
    const std::vector<DenseChoice> choices =
        sums_of(*forgery.witness, forgery.plan.logits, forgery.statement, test.comm);
    set_hits(*forgery.witness, *forgery.plan.logits.dense, choices, odd_prompt.size());
    forgery.witness->finish(test.comm, OutOfRange::skip);
    if (lie.columns) {
      lie.columns(forgery);
    }
    forgery.recount();
    return verify_inference(plan, test.key, statement, forgery.prove().payload);
  }
  return {};
}

/// Rejected by the range check of this value alone.
void only_range_catches(const DenseLie& lie, RangeId range) {
  expect_rejected(verdict_on(lie), lookup_scope);
  expect_accepted(verdict_on(lie, [&](ModelPlan& plan) { widen(plan, range, 2, true); }));
}

/// Another distance of a token of the last row is looked up, and another excess is left.
void set_distance(Forgery& forgery, std::size_t token, std::int64_t looked_up, std::int64_t excess) {
  cell(forgery, handles().excess, token, last_row) = excess;
  const bool row = looked_up >= 0 && looked_up <= static_cast<std::int64_t>(forgery.statement.sampling->cutoff);
  cell(forgery, handles().weight, token, last_row) = row ? weight_table()[static_cast<std::size_t>(looked_up)] : 0;
}
void look_up(Forgery& forgery, std::size_t token, std::int64_t looked_up) {
  const ChunkPlace place = place_of(forgery, token, last_row);
  forgery.set_input(handles().weight, place.chunk, place.inner, static_cast<std::uint32_t>(looked_up));
}

TEST(DenseSampling, true_statements_are_accepted) {
  for (const Sampling& sampling : {dense_sampling(), Sampling{4096, 0, top_p_unit, 65300, {}},
                                   Sampling{1 << 17, 0, top_p_unit, 0, {}}, Sampling{1 << 8, 0, top_p_unit, 1, {}}}) {
    Statement statement = sampled(sampling, 3);
    Trace trace = trace_of(odd_model(), statement);
    Forgery forgery(odd_model(), statement, ModelPlan::of(odd_model().key, statement), std::move(trace));
    expect_accepted(verify_inference(odd_model().key, statement, forgery.prove().payload));
  }
}

TEST(DenseSampling, nothing_but_the_best_is_the_arg_max) {
  Statement statement = sampled({1 << 17, 0, top_p_unit, 0, {}});
  trace_of(odd_model(), statement);
  EXPECT_EQ(statement.generated, true_statement(odd_model(), odd_prompt, 5).generated);
}

TEST(DenseSampling, the_lies_need_a_row_of_every_kind) {
  expect_accepted(verdict_on(DenseLie{}));
  Forgery forgery(
      odd_model(), dense_statement(), honest_plan(),
      run_one_pass(odd_model().integers, honest_plan(), odd_prompt, dense_statement().generated, odd_model().comm));
  const Ids ids = ranking(forgery);
  EXPECT_EQ(drawn(forgery), dense_statement().generated[last_row]);
  EXPECT_GT(cell(forgery, handles().weight, ids[1], last_row), 0);
  EXPECT_LT(cell(forgery, handles().weight, ids[1], last_row), full_weight);
  EXPECT_EQ(cell(forgery, handles().weight, ids.back(), last_row), 0);
  EXPECT_NE(ids[0], dense_statement().generated[last_row]);
}

TEST(DenseSampling, another_statement_is_rejected) {
  const Proof proof = Forgery(odd_model(), dense_statement(), honest_plan(),
                              run_one_pass(odd_model().integers, honest_plan(), odd_prompt, dense_statement().generated,
                                           odd_model().comm))
                          .prove();
  expect_accepted(verify_inference(odd_model().key, dense_statement(), proof.payload));
  const auto rejected = [&](const auto& change) {
    Statement other = dense_statement();
    change(other);
    EXPECT_FALSE(verify_inference(odd_model().key, other, proof.payload).accepted);
  };
  rejected([](Statement& s) { s.sampling->inverse_temperature += 1; });
  rejected([](Statement& s) { s.sampling->top_p -= 1; });
  rejected([](Statement& s) { s.sampling->cutoff += 1; });
  rejected([](Statement& s) { s.sampling->seed[31] ^= 1; });
  rejected([](Statement& s) { s.generated[last_row] ^= 1; });
  rejected([](Statement& s) { s.sampling.reset(); });
}

/// Numbers of one statement, proven as another one's.
TEST(DenseSampling, every_parameter_is_bound) {
  const auto expect_scope = [](const std::string& scope, const auto& change) {
    Forgery forgery(
        odd_model(), dense_statement(), honest_plan(),
        run_one_pass(odd_model().integers, honest_plan(), odd_prompt, dense_statement().generated, odd_model().comm));
    change(*forgery.statement.sampling);
    forgery.plan = ModelPlan::of(odd_model().key, forgery.statement);
    expect_rejected(verdict_of(forgery), scope);
  };
  expect_scope("/final/logits/all", [](Sampling& s) { s.inverse_temperature += 1; });
  expect_scope(sampling_scope, [](Sampling& s) { s.seed[0] ^= 1; });
}

TEST(DenseSampling, a_token_beside_the_interval_is_rejected) {
  for (const int step : {-1, 1}) {
    Forgery forgery(
        odd_model(), dense_statement(), honest_plan(),
        run_one_pass(odd_model().integers, honest_plan(), odd_prompt, dense_statement().generated, odd_model().comm));
    std::uint32_t token = dense_statement().generated[last_row];
    do {
      token += static_cast<std::uint32_t>(step);
      ASSERT_LT(token, odd_vocabulary);
    } while (cell(forgery, handles().weight, token, last_row) == 0);
    SCOPED_TRACE(step);
    only_range_catches({.token = token}, step < 0 ? handles().high : handles().low);
  }
}

/// A token that has no weight is at no interval.
TEST(DenseSampling, a_token_that_is_left_out_is_rejected) {
  Forgery forgery(
      odd_model(), dense_statement(), honest_plan(),
      run_one_pass(odd_model().integers, honest_plan(), odd_prompt, dense_statement().generated, odd_model().comm));
  expect_rejected(verdict_on({.token = ranking(forgery).back()}), lookup_scope);
}

/// All distances are one more, so that no token has the maximum.
TEST(DenseSampling, a_maximum_that_is_too_large_is_rejected) {
  const auto raise = [](Forgery& forgery) {
    std::vector<std::int64_t> maxima;
    for (std::size_t g = 0; g <= last_row; ++g) {
      maxima.push_back(maximum(forgery, g) + (g == last_row ? 1 : 0));
    }
    set_scores(*forgery.witness, forgery.plan.logits, maxima, odd_model().comm);
  };
  expect_rejected(verdict_on({.values = raise}), opening_scope);  // marks of a row do not add up to one
  const auto mark = [&](Forgery& forgery) {
    raise(forgery);
    cell(forgery, handles().best_values, ranking(forgery)[0], last_row) = 1;
  };
  expect_rejected(verdict_on({.values = mark}), attained_scope);
}

/// The best tokens' distances are -1: no row, or a row and an excess of -1.
TEST(DenseSampling, a_maximum_that_is_too_small_is_rejected) {
  const auto lower = [](Forgery& forgery) {
    std::vector<std::int64_t> maxima;
    for (std::size_t g = 0; g <= last_row; ++g) {
      maxima.push_back(maximum(forgery, g) - (g == last_row ? 1 : 0));
    }
    set_scores(*forgery.witness, forgery.plan.logits, maxima, odd_model().comm);
    cell(forgery, handles().best_values, ranking(forgery)[0], last_row) = 1;
  };
  expect_rejected(verdict_on({.values = lower}), lookup_scope);
  const auto split = [&](Forgery& forgery) {
    lower(forgery);
    set_distance(forgery, ranking(forgery)[0], 0, -1);
  };
  const DenseLie lie{.values = split, .columns = [](Forgery& f) { look_up(f, ranking(f)[0], 0); }};
  expect_rejected(verdict_on(lie), lookup_scope);
  // the weight times the excess is not 0 either
  expect_rejected(verdict_on(lie, [](ModelPlan& plan) { widen(plan, handles().excess, 1, true); }), attained_scope);
}

/// The maximum and all remainders move by half a unit together: every rounding is another one, all identities hold.
TEST(DenseSampling, a_maximum_between_integers_is_rejected) {
  const int shift = handles().widths.shift;
  const std::int64_t half = std::int64_t{1} << (shift - 1);
  const auto unrounded = [=](Forgery& f, std::size_t v) {
    return logit(f, v, last_row) * f.statement.sampling->inverse_temperature + 2 * half;
  };
  const auto largest = [=](Forgery& f) {
    std::int64_t most = INT64_MIN;
    for (std::size_t v = 0; v < odd_vocabulary; ++v) {
      most = std::max(most, unrounded(f, v) >> shift);
    }
    return most;
  };
  const auto values = [=](Forgery& f) {
    for (std::size_t v = 0; v < odd_vocabulary; ++v) {
      const std::int64_t distance = largest(f) - (unrounded(f, v) >> shift);
      set_distance(f, v, std::min(distance, far_distance), distance - std::min(distance, far_distance));
      cell(f, handles().best_values, v, last_row) = 0;
    }
    cell(f, handles().best_values, ranking(f)[0], last_row) = 1;
    // M - 1/2 as the field has it: the other values are integers as ever
    const F moved = F::from_signed(largest(f)) - two_to_the_minus(1);
    (*f.witness)[handles().maximum].values()[last_row] = static_cast<std::int64_t>(moved.value());
  };
  const auto columns = [=](Forgery& f) {
    ChunkedTensor<std::int64_t>& remainders = f.zeros(f.plan.logits.logits);
    std::ranges::fill(remainders.values(), half);
    for (std::size_t g = 0; g <= last_row; ++g) {
      for (std::size_t v = 0; v < odd_vocabulary; ++v) {
        const std::int64_t exact = logit(f, v, g) * f.statement.sampling->inverse_temperature + half;
        cell(remainders, v, g) = (g == last_row ? unrounded(f, v) : exact) & (2 * half - 1);
      }
    }
    f.set_range(handles().remainder, remainders);
    for (std::size_t v = 0; v < odd_vocabulary; ++v) {
      const std::int64_t distance = largest(f) - (unrounded(f, v) >> shift);
      look_up(f, v, std::min(distance, far_distance));
    }
    // pieces of what the maxima are near
    ChunkedTensor<std::int64_t>& near = f.zeros(handles().rows);
    for (std::size_t g = 0; g <= last_row; ++g) {
      near.values()[g] = g == last_row ? largest(f) : maximum(f, g);
    }
    f.set_range(handles().maximum.checked, near);
  };
  expect_rejected(verdict_on({values, columns}), opening_scope);
  const auto unchecked = [](ModelPlan& plan) {
    std::erase_if(plan.checked_tensors, [](const CheckedTensor& c) { return c.tensor == handles().maximum.tensor; });
  };
  expect_accepted(verdict_on({values, columns}, unchecked));
}

TEST(DenseSampling, a_token_moved_nearer_is_rejected) {
  const auto distance = [](Forgery& f) { return maximum(f, last_row) - score(f, ranking(f)[5], last_row); };
  for (const std::int64_t nearer : {std::int64_t{0}, std::int64_t{1}}) {
    const auto values = [&](Forgery& f) { set_distance(f, ranking(f)[5], nearer, distance(f) - nearer); };
    const auto columns = [&](Forgery& f) { look_up(f, ranking(f)[5], nearer); };
    expect_rejected(verdict_on({values, columns}), attained_scope);
  }
}

/// A token with a weight is said to be far behind all that count, its excess being negative.
TEST(DenseSampling, a_token_moved_out_of_sight_is_rejected) {
  const auto values = [](Forgery& f) {
    const std::size_t token = ranking(f)[1];
    set_distance(f, token, far_distance, maximum(f, last_row) - score(f, token, last_row) - far_distance);
  };
  const auto columns = [](Forgery& f) { look_up(f, ranking(f)[1], far_distance); };
  only_range_catches({values, columns}, handles().excess);
}

TEST(DenseSampling, weights_are_the_tables) {
  const auto change_by = [](std::size_t rank, std::int64_t change) {
    return DenseLie{.values = [=](Forgery& f) { cell(f, handles().weight, ranking(f)[rank], last_row) += change; }};
  };
  expect_rejected(verdict_on(change_by(1, 1)), lookup_scope);
  expect_rejected(verdict_on(change_by(1, -1)), lookup_scope);
  expect_rejected(verdict_on(change_by(0, -1)), lookup_scope);
  expect_rejected(verdict_on(change_by(odd_vocabulary - 1, 1)), lookup_scope);  // beyond the cut-off
}

TEST(DenseSampling, scores_are_rounded_once) {
  for (const std::int64_t step : {-1, 1}) {
    const auto values = [=](Forgery& f) {
      const std::size_t token = ranking(f)[3];
      set_distance(f, token, maximum(f, last_row) - score(f, token, last_row) - step, 0);
    };
    const auto columns = [=](Forgery& f) {
      const std::size_t token = ranking(f)[3];
      const int shift = handles().widths.shift;
      const std::int64_t half = std::int64_t{1} << (shift - 1);
      ChunkedTensor<std::int64_t>& remainders = f.zeros(f.plan.logits.logits);
      std::ranges::fill(remainders.values(), half);
      for (std::size_t g = 0; g <= last_row; ++g) {
        for (std::size_t v = 0; v < odd_vocabulary; ++v) {
          const bool moved = g == last_row && v == token;
          cell(remainders, v, g) = logit(f, v, g) * f.statement.sampling->inverse_temperature + half -
                                   ((score(f, v, g) + (moved ? step : 0)) << shift);
        }
      }
      f.set_range(handles().remainder, remainders);
      look_up(f, token, maximum(f, last_row) - score(f, token, last_row) - step);
    };
    only_range_catches({values, columns}, handles().remainder);
  }
}

TEST(DenseSampling, logits_are_products) {
  const auto values = [](Forgery& f) { ++cell(f.trace[f.plan.logits.values], 7, last_row); };
  const auto again = [&](Forgery& f) {
    values(f);
    std::vector<std::int64_t> maxima;
    for (std::size_t g = 0; g <= last_row; ++g) {
      maxima.push_back(maximum(f, g));
    }
    set_scores(*f.witness, f.plan.logits, maxima, odd_model().comm);
  };
  expect_rejected(verdict_on({.values = again}), "/final/logits/all");
}

/// The best token of each row is marked once, and no other one is.
TEST(DenseSampling, marks_are_of_the_best) {
  const auto mark = [](std::size_t rank, std::int64_t value) {
    return DenseLie{.values = [=](Forgery& f) { cell(f, handles().best_values, ranking(f)[rank], last_row) = value; }};
  };
  expect_rejected(verdict_on(mark(0, 0)), opening_scope);
  expect_rejected(verdict_on(mark(0, 2)), opening_scope);
  expect_rejected(verdict_on(mark(1, 1)), attained_scope);
  const auto swap = [](Forgery& f) {
    cell(f, handles().best_values, ranking(f)[0], last_row) = 0;
    cell(f, handles().best_values, ranking(f)[1], last_row) = 1;
  };
  expect_rejected(verdict_on({.values = swap}), attained_scope);
}

/// q_2 one less, the remainder 2^16 more.
TEST(DenseSampling, a_remainder_of_17_bits_is_rejected) {
  const DenseLie lie{.columns = [](Forgery& f) {
    Witness& witness = *f.witness;
    --witness[handles().quotient[2]].values()[last_row];
    --witness[handles().low].values()[last_row];
    ++witness[handles().high].values()[last_row];
    witness.finish(odd_model().comm, OutOfRange::skip);
    ChunkedTensor<std::int64_t>& remainders = f.zeros(handles().rows);
    for (std::size_t g = 0; g <= last_row; ++g) {
      remainders.values()[g] = witness[handles().limb_remainder[2]].values()[g] + (g == last_row ? 1 << 16 : 0);
    }
    f.set_range(handles().limb_remainder[2], remainders);
  }};
  only_range_catches(lie, handles().limb_remainder[2]);
}

/// Each value that is in its range, but another one.
TEST(DenseSampling, every_value_is_bound) {
  const auto lie = [](const Derived& tensor, std::size_t place) {
    return DenseLie{.columns = [=](Forgery& f) {
      ++(*f.witness)[tensor].values()[place];
      f.witness->finish(odd_model().comm, OutOfRange::skip);
    }};
  };
  const std::string limb = "a limb of the random number times the weights is another";
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    for (const std::size_t row : {std::size_t{1}, last_row, std::size_t{6}}) {  // the last one is padding
      expect_reason(verdict_on(lie(handles().quotient[i], row)), limb);
      expect_reason(verdict_on(lie(handles().limb_remainder[i], row)), limb);
    }
  }
  expect_reason(verdict_on(lie(handles().sums, 1)), limb);
  for (const std::size_t row : {std::size_t{1}, last_row, std::size_t{6}}) {
    expect_rejected(verdict_on(lie(handles().low, row)), sampling_scope + "/reduce");
    expect_rejected(verdict_on(lie(handles().high, row)), sampling_scope + "/reduce");
    expect_rejected(verdict_on(lie(handles().maximum, row)), "/final/logits/all");
  }
  expect_rejected(verdict_on(lie(handles().sums, 6)), sampling_scope + "/reduce");
}

/// Another sum of all weights, to which the limbs fit.
TEST(DenseSampling, the_sum_is_that_of_the_weights) {
  const DenseLie lie{.columns = [](Forgery& f) {
    std::vector<DenseChoice> choices = sums_of(*f.witness, f.plan.logits, f.statement, odd_model().comm);
    ++choices[last_row].sum;
    set_hits(*f.witness, *f.plan.logits.dense, choices, odd_prompt.size());
    f.witness->finish(odd_model().comm, OutOfRange::skip);
  }};
  expect_rejected(verdict_on(lie), sampling_scope + "/reduce");
}

/// The interval is another one: its place, or its length.
TEST(DenseSampling, the_interval_is_that_of_the_weights) {
  for (const bool place : {true, false}) {
    const DenseLie lie{.columns = [=](Forgery& f) {
      std::vector<DenseChoice> choices = sums_of(*f.witness, f.plan.logits, f.statement, odd_model().comm);
      place ? --choices[last_row].before : ++choices[last_row].own;
      set_hits(*f.witness, *f.plan.logits.dense, choices, odd_prompt.size());
      f.witness->finish(odd_model().comm, OutOfRange::skip);
    }};
    expect_rejected(verdict_on(lie), sampling_scope + "/reduce");
  }
}

/// What stands behind the vocabulary's end counts nothing.
TEST(DenseSampling, padding_has_no_weight) {
  const Dimension& tokens = honest_plan().logits.logits.dimensions()[0];
  ASSERT_GT(tokens.filled(), odd_vocabulary);
  const auto values = [](Forgery& f) { set_distance(f, odd_vocabulary, 0, far_distance); };
  const auto columns = [](Forgery& f) { look_up(f, odd_vocabulary, 0); };
  expect_rejected(verdict_on({values, columns}), attained_scope);
  const auto near = [](Forgery& f) { set_distance(f, odd_vocabulary, 0, 0); };
  expect_rejected(verdict_on({near, columns}), "/final/logits/all");
  const auto mark = [](Forgery& f) { cell(f, handles().best_values, odd_vocabulary, last_row) = 1; };
  expect_rejected(verdict_on({.values = mark}), attained_scope);
}

TEST(DenseSampling, widths_leave_no_room) {
  const ModelPlan& plan = honest_plan();
  const auto width = [&](RangeId range) { return plan.ranges[range.range].width; };
  for (std::size_t i = 0; i < uniform_limbs; ++i) {
    EXPECT_EQ(width(handles().quotient[i]), 42U);
    EXPECT_EQ(width(handles().limb_remainder[i]), 16U);
  }
  EXPECT_EQ(width(handles().low), 42U);
  EXPECT_EQ(width(handles().high), 42U);
  EXPECT_EQ(width(handles().maximum.checked), handles().widths.score_bits);
  EXPECT_EQ(width(handles().excess), handles().widths.score_bits - 1);
  EXPECT_EQ(width(handles().remainder), static_cast<unsigned>(handles().widths.shift));
  const auto committed = [&](RangeId range) { return plan.ranges[range.range].committed.size(); };
  EXPECT_EQ(committed(handles().excess), plan.ranges[handles().excess.range].pieces());
  EXPECT_EQ(committed(handles().remainder), plan.ranges[handles().remainder.range].pieces());
}

/// The table of a statement ends where its cut-off is.
TEST(DenseSampling, the_table_of_weights_ends_at_the_cutoff) {
  const auto& tables = honest_plan().lookup.tables;
  const auto found = std::ranges::find(tables, "weights", &LookupTable::name);
  ASSERT_NE(found, tables.end());
  EXPECT_EQ(found->values.size(), std::size_t{1} << weight_table_log_size);
  EXPECT_EQ(found->values[3500], weight_table()[3500]);
  EXPECT_TRUE(std::all_of(found->values.begin() + 3501, found->values.end(), [](auto value) { return value == 0; }));
  EXPECT_EQ(found->values[0], full_weight);
  EXPECT_LT(found->values[1], full_weight);
  EXPECT_TRUE(std::ranges::is_sorted(found->values, std::greater<>()));
}

TEST(DenseSampling, parts_and_passes_draw_the_same_text) {
  if (hiding_proofs > 0) {
    GTEST_SKIP() << "hiding keys have no parts";
  }
  TestModel& test = odd_model();
  for (const std::uint32_t pass_length : {0U, 4U}) {
    Statement first = statement_after(nullptr, odd_prompt, true);
    first.generated.resize(2);
    first.sampling = dense_statement().sampling;
    first.pass_length = pass_length;
    const Part before = prove_part(test, nullptr, first);
    expect_accepted(verify(test, before));
    Statement next = statement_after(&before, {}, false);
    next.generated.resize(3);
    next.sampling = dense_statement().sampling;
    const Part after = prove_part(test, &before, next);
    expect_accepted(verify(test, after));
    Ids all = before.statement.generated;
    all.insert(all.end(), after.statement.generated.begin(), after.statement.generated.end());
    EXPECT_EQ(all, dense_statement().generated);
  }
}

TEST(DenseSampling, altered_messages_are_rejected) {
  if (hiding_proofs > 0) {
    GTEST_SKIP() << "told of plain proofs";
  }
  Statement statement = sampled(dense_sampling(), 2);
  expect_altered_messages_rejected(odd_model(), prove_part(odd_model(), nullptr, statement));
}

}  // namespace
}  // namespace tessera::test
