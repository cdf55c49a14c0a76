#include <gtest/gtest.h>

#include "fixture.hpp"

namespace tessera::test {
namespace {

std::size_t outer() { return lied_block * odd_model().model.shape.n_head + lied_head; }
std::size_t row_place() { return outer() * odd_tokens + last_token; }

Forgery forge(ModelPlan plan, const Liar& liar) {
  TestModel& test = odd_model();
  return {test, odd_statement(), std::move(plan), odd_trace(liar)};
}

ModelPlan exact_plan() { return odd_plan(); }

Verdict verdict_on(ModelPlan plan, const Liar& liar) {
  Forgery forgery = forge(std::move(plan), liar);
  return verdict_of(forgery, forgery.plan);
}

Liar shifted_maximum(int by) {
  return lie_at(Stage::row_max, lied_block,
                [by](Trace& trace) { trace[odd_plan().attention.row_max].values()[row_place()] += by; });
}

TEST(Softmax, maximum_too_large_has_no_maximum_to_count) {
  expect_rejected(verdict_on(exact_plan(), shifted_maximum(1)), lookup_scope);
  ModelPlan wide = exact_plan();
  widen(wide, wide.attention.maximum_count, 1, true);  // takes T = 0
  expect_accepted(verdict_on(wide, shifted_maximum(1)));
}

/// T = 0 written as T = 2^kappa with a quotient one smaller: D = 2^kappa*A' + T still holds.
TEST(Softmax, hidden_count_of_zero_needs_one_more_bit) {
  const auto verdict_under = [](const ModelPlan& plan) {
    Forgery forgery = forge(plan, shifted_maximum(1));
    const unsigned kappa = plan.constants.kappa;
    ChunkedTensor<std::int64_t>& quotient = forgery.zeros(plan.shapes.block_row);
    ChunkedTensor<std::int64_t>& count = forgery.zeros(plan.shapes.block_row);
    for (std::size_t i = 0; i < count.values().size(); ++i) {
      const std::int64_t sum = forgery.trace[odd_plan().attention.row_sum].values()[i];
      const std::int64_t low = sum & ((std::int64_t{1} << kappa) - 1);
      quotient.values()[i] = (sum >> kappa) - (low == 0 ? 1 : 0);
      count.values()[i] = (low == 0 ? std::int64_t{1} << kappa : low) - 1;
    }
    EXPECT_EQ(count.values()[row_place()], (std::int64_t{1} << kappa) - 1);
    forgery.set_tensor(plan.attention.row_sum_quotient.tensor, quotient);
    forgery.set_range(plan.attention.row_sum_quotient.checked, quotient);
    forgery.set_range(plan.attention.maximum_count, count);
    forgery.recount();
    return verdict_of(forgery, forgery.plan);
  };
  expect_rejected(verdict_under(exact_plan()), lookup_scope);
  ModelPlan wide = exact_plan();
  widen(wide, wide.attention.maximum_count);
  expect_accepted(verdict_under(wide));
}

TEST(Softmax, maximum_too_small_has_a_negative_distance) {
  expect_rejected(verdict_on(exact_plan(), shifted_maximum(-1)), lookup_scope);
}

TEST(Softmax, normaliser_off_by_one_leaves_one_range) {
  for (const int by : {1, -1}) {
    SCOPED_TRACE(by);
    const Liar liar = lie_at(Stage::row_inverse, lied_block, [by](Trace& trace) {
      trace[odd_plan().attention.row_inverse].values()[row_place()] += by;
    });
    expect_rejected(verdict_on(exact_plan(), liar), lookup_scope);
    ModelPlan wide = exact_plan();
    widen(wide, by > 0 ? wide.attention.division_remainder : wide.attention.division_complement, 1, true);
    expect_accepted(verdict_on(wide, liar));
  }
}

TEST(Softmax, scaled_normaliser_is_rejected) {
  for (const int percent : {65, 99, 101, 135}) {
    SCOPED_TRACE(percent);
    expect_rejected(
        verdict_on(exact_plan(), lie_at(Stage::row_inverse, lied_block,
                                        [percent](Trace& trace) {
                                          std::int32_t& inverse =
                                              trace[odd_plan().attention.row_inverse].values()[row_place()];
                                          inverse = static_cast<std::int32_t>(std::int64_t{inverse} * percent / 100);
                                        })),
        lookup_scope);
  }
}

/// One virtual tensor of the rows off by one, everything else honest.
TEST(Softmax, row_identities_are_bound) {
  struct Lie {
    std::string scope;
    int quotient, count, remainder, complement;
  };
  for (const Lie& lie : {Lie{"row sum does not match its quotient and count of maxima", 1, 0, 0, 0},
                         Lie{"row sum does not match its quotient and count of maxima", 0, 1, 0, 0},
                         Lie{"remainder of the division is not below the row sum", 0, 0, 0, 1},
                         Lie{"row sum times inverse does not match the sum-check", 0, 0, 1, -1}}) {
    SCOPED_TRACE(lie.scope);
    Forgery forgery = forge(exact_plan(), {});
    const ModelPlan& plan = forgery.plan;
    std::array<ChunkedTensor<std::int64_t>*, 4> tensors{};
    for (auto*& tensor : tensors) {
      tensor = &forgery.zeros(plan.shapes.block_row);
    }
    for (std::size_t i = 0; i < tensors[0]->values().size(); ++i) {
      const std::int64_t sum = forgery.trace[odd_plan().attention.row_sum].values()[i];
      const int here = i == row_place() ? 1 : 0;
      const std::int64_t remainder =
          (std::int64_t{1} << softmax_shift) - forgery.trace[odd_plan().attention.row_inverse].values()[i] * sum;
      tensors[0]->values()[i] = (sum >> plan.constants.kappa) + here * lie.quotient;
      tensors[1]->values()[i] = (sum & ((std::int64_t{1} << plan.constants.kappa) - 1)) - 1 + here * lie.count;
      tensors[2]->values()[i] = remainder + here * lie.remainder;
      tensors[3]->values()[i] = sum - 1 - remainder + here * lie.complement;
    }
    forgery.set_tensor(plan.attention.row_sum_quotient.tensor, *tensors[0]);
    forgery.set_range(plan.attention.row_sum_quotient.checked, *tensors[0]);
    forgery.set_range(plan.attention.maximum_count, *tensors[1]);
    forgery.set_range(plan.attention.division_remainder, *tensors[2]);
    forgery.set_range(plan.attention.division_complement, *tensors[3]);
    forgery.recount();
    const Verdict verdict = verdict_of(forgery, forgery.plan);
    expect_rejected(verdict, "/self_attention/attention/rows");
    expect_reason(verdict, lie.scope);
  }
}

TEST(Softmax, all_zero_row_is_rejected) {
  const auto zero = lie_at(Stage::exponential, lied_block, [](Trace& trace) {
    std::fill_n(&score_at(trace[odd_plan().attention.exponential], outer(), last_token, 0), odd_tokens, 0);
  });
  expect_rejected(verdict_on(exact_plan(), zero), lookup_scope);
  // with distances at which EXP is 0, so that the pairs are rows of the table
  const auto far = [](Stage stage, std::size_t at, Trace& trace) {
    if (at == lied_block && stage == Stage::row_max) {
      trace[odd_plan().attention.row_max].values()[row_place()] = 32767;
    }
  };
  Forgery forgery = forge(exact_plan(), far);
  expect_rejected(verdict_of(forgery, forgery.plan), lookup_scope);
}

TEST(Softmax, pair_outside_the_table_is_rejected_unless_the_table_is_fake) {
  std::uint32_t distance = 0;
  const Liar liar = lie_at(Stage::exponential, lied_block, [&distance](Trace& trace) {
    std::int32_t& e = score_at(trace[odd_plan().attention.exponential], outer(), last_token, 3);
    e += 1 << odd_plan().constants.kappa;
    distance = static_cast<std::uint32_t>(trace[odd_plan().attention.row_max].values()[row_place()] -
                                          score_at(trace[odd_plan().attention.score], outer(), last_token, 3));
  });
  expect_rejected(verdict_on(exact_plan(), liar), lookup_scope);
  ASSERT_GT(distance, 0U);
  // a prover whose table has this row instead: only the verifier's table stands against it
  ModelPlan fake = exact_plan();
  LookupTable& table = fake.lookup.tables[fake.lookup.columns[fake.attention.exponential.column].table];
  table.values[distance] += 1 << fake.constants.kappa;
  const auto same_table = [&](Trace& trace) {
    for (std::size_t o = 0; o < trace[odd_plan().attention.score].shape().chunk_count(); ++o) {
      for (std::size_t i = 0; i < odd_tokens; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
          const std::int64_t d = trace[odd_plan().attention.row_max].values()[o * odd_tokens + i] -
                                 score_at(trace[odd_plan().attention.score], o, i, j);
          score_at(trace[odd_plan().attention.exponential], o, i, j) =
              static_cast<std::int32_t>(table.values[static_cast<std::size_t>(d)]);
        }
      }
    }
  };
  Forgery forgery = forge(fake, [&](Stage stage, std::size_t, Trace& trace) {
    if (stage == Stage::exponential) {
      same_table(trace);
    }
  });
  const Proof proof = forgery.prove();
  expect_rejected(verify_inference(odd_model().key, odd_statement(), proof.payload), "/lookup");
}

TEST(Softmax, unmasked_future_is_rejected) {
  constexpr std::size_t query = 12;  // chooses no token
  constexpr std::size_t key = 14;
  const std::int32_t one = 1 << (15 + odd_plan().constants.kappa);
  const auto see = lie_at(Stage::exponential, lied_block, [one](Trace& trace) {
    score_at(trace[odd_plan().attention.exponential], outer(), query, key) = one;
  });
  // the distance of a masked score with the weight of a seen one
  expect_rejected(verdict_on(exact_plan(), see), lookup_scope);
  // a pair of the table: the score that belongs to the distance is not 0
  for (const bool true_score : {false, true}) {
    SCOPED_TRACE(true_score);
    std::uint32_t distance = 5;
    std::int32_t score = 0;
    const Liar liar = [&](Stage stage, std::size_t at, Trace& trace) {
      if (at != lied_block) {
        return;
      }
      if (stage == Stage::score && true_score) {
        std::int64_t sum = 0;
        for (std::size_t c = lied_head * 12; c < (lied_head + 1) * 12; ++c) {
          sum += std::int64_t{block_row(trace[gpt2_qkv(odd_plan().qkv).value[0]], lied_block, c)[query]} *
                 block_row(trace[gpt2_qkv(odd_plan().qkv).value[1]], lied_block, c)[key];
        }
        const Exponents& e = odd_model().model.exponents;
        const int shift = e[scales::q] + e[scales::k] - e[scales::score];
        sum += std::int64_t{1} << (shift - 1);
        score = static_cast<std::int32_t>(sum >> shift);
        score_at(trace[odd_plan().attention.score], outer(), query, key) = score;
        score_at(trace[odd_plan().attention.score_remainder], outer(), query, key) =
            static_cast<std::uint16_t>(sum & ((std::int64_t{1} << shift) - 1));
      }
      std::int64_t& maximum = trace[odd_plan().attention.row_max].values()[outer() * odd_tokens + query];
      if (stage == Stage::row_max && true_score) {
        maximum = std::max<std::int64_t>(maximum, score);
        distance = static_cast<std::uint32_t>(maximum - score);
      }
      if (stage == Stage::exponential) {
        score_at(trace[odd_plan().attention.exponential], outer(), query, key) =
            odd_model().integers.key.exp_table[distance];
      }
    };
    Forgery forgery = forge(exact_plan(), liar);
    forgery.set_input(forgery.plan.attention.exponential, outer(), query * odd_tokens + key, distance);
    forgery.recount();
    expect_rejected(verdict_of(forgery, forgery.plan), "/self_attention/attention/mask");
  }
}

}  // namespace
}  // namespace tessera::test
