// Dense sampling has no range check of logits: where int16 parameters could make a*L larger than the field, a liar
// would say what is left of it.

#include <gtest/gtest.h>

#include "../model/random_model.hpp"
#include "base/errors.hpp"
#include "integer_model/integer_model.hpp"
#include "parts.hpp"
#include "plan/limits.hpp"

namespace tessera::test {
namespace {

constexpr std::uint32_t best_token = 11;
constexpr std::size_t loud_vocabulary = 16;
constexpr std::uint32_t greatest_inverse_temperature = 8192;  // under this model's key

/// A model that commit would not take: the logit of one token is nearly 2^50.
TestModel& loud_model() {
  static TestModel test = [] {
    const ModelShape shape{1, 4096, 1, 8, loud_vocabulary, 16, rotary_layers, 1, 2, false, false, false};
    Model model = RandomModel(77).make(shape, Widths{.final_bits = 24});
    for (std::size_t id = 0; id < shape.n_vocab; ++id) {
      model.tokenizer.vocabulary.emplace_back(1, static_cast<char>('a' + id));
    }
    model.tokenizer.end_of_text = loud_vocabulary - 1;
    model.exponents[scales::uf] = model.exponents[gammaf] + 9;
    Parameters& p = model.parameters;
    std::ranges::fill(p[embedding].values(), std::int16_t{4000});
    std::ranges::fill(p[wo].values(), std::int16_t{0});
    std::ranges::fill(p[w_down].values(), std::int16_t{0});
    std::ranges::fill(p[gammaf].values(), std::int16_t{16000});
    std::ranges::fill(p[head].block(0).rows({best_token, best_token + 1}), std::int16_t{32767});
    return TestModel(std::move(model));
  }();
  return test;
}

/// rshift(a*L, S) as the liar has it, from a*L less |F| where it is beyond all scores.
struct Score {
  std::int64_t score = 0, remainder = 0;
  Score(std::int64_t logit, const DensePlan& dense) {
    const __int128 product = static_cast<__int128>(logit) * dense.sampling.inverse_temperature;
    const int shift = dense.widths.shift;
    const __int128 rest = (product >> 62 > 0 ? product - static_cast<__int128>(F::modulus) : product) +
                          (static_cast<__int128>(1) << (shift - 1));
    score = static_cast<std::int64_t>(rest >> shift);
    remainder = static_cast<std::int64_t>(rest - (static_cast<__int128>(score) << shift));
  }
};

/// All of a witness that follows from these scores, and the token that they draw.
std::uint32_t set_values(Forgery& forgery, const std::vector<Score>& scores) {
  Witness& witness = *forgery.witness;
  const DensePlan& dense = *forgery.plan.logits.dense;
  const std::int64_t maximum = std::ranges::max(scores, {}, &Score::score).score;
  witness[dense.maximum].values()[0] = maximum;
  std::vector<std::int64_t> looked_up;
  std::int64_t sum = 0;
  for (std::size_t v = 0; v < loud_vocabulary; ++v) {
    const std::int64_t distance = maximum - scores[v].score;
    looked_up.push_back(std::min(distance, far_distance));
    const std::int64_t weight = weight_table()[static_cast<std::size_t>(looked_up.back())];
    block_row(witness[dense.weight], 0, v)[0] = weight;
    block_row(witness[dense.excess], 0, v)[0] = distance - looked_up.back();
    block_row(witness[dense.best_values], 0, v)[0] = distance == 0 ? 1 : 0;
    sum += weight;
  }
  witness.set_input(dense.weight, [looked_up](std::size_t /*chunk*/, std::span<std::int64_t> values) {
    std::ranges::copy(looked_up, values.begin());
  });
  const std::uint64_t uniform = uniform_at(forgery.statement.sampling->seed, forgery.statement.prompt.size());
  std::int64_t left = hit_of(limbs_of(uniform), sum).value();
  std::uint32_t token = 0;
  for (; left >= weight_table()[static_cast<std::size_t>(looked_up[token])]; ++token) {
    left -= weight_table()[static_cast<std::size_t>(looked_up[token])];
  }
  return token;
}

/// The best token is said to be as far as what is left of its logit, and another one is generated.
Verdict verdict_on_rest(std::uint32_t inverse_temperature) {
  TestModel& test = loud_model();
  Statement statement{{1, 2, 3}, {0}};
  statement.sampling = Sampling{inverse_temperature, 0, top_p_unit, max_cutoff, {}};
  for (const bool ready : {false, true}) {
    const ModelPlan plan = ModelPlan::of(test.key, statement);
    const DensePlan& dense = *plan.logits.dense;
    Forgery forgery(test, statement, plan,
                    run_one_pass(test.integers, plan, statement.prompt, statement.generated, test.comm));
    std::vector<Score> scores;
    for (std::size_t v = 0; v < loud_vocabulary; ++v) {
      scores.emplace_back(block_row(forgery.trace[plan.logits.values], 0, v)[0], dense);
    }
    statement.generated[0] = set_values(forgery, scores);
    if (!ready) {
      continue;
    }
    EXPECT_NE(statement.generated[0], best_token);
    set_hits(*forgery.witness, dense, sums_of(*forgery.witness, plan.logits, statement, test.comm),
             statement.prompt.size());
    forgery.witness->finish(test.comm, OutOfRange::skip);
    ChunkedTensor<std::int64_t>& remainders = forgery.zeros(plan.logits.logits);
    for (std::size_t v = 0; v < loud_vocabulary; ++v) {
      block_row(remainders, 0, v)[0] = scores[v].remainder;
    }
    forgery.set_range(dense.remainder, remainders);
    forgery.recount();
    return verify_inference(test.key, statement, forgery.prove().payload);
  }
  return {};
}

TEST(DenseLogits, whose_scores_could_leave_the_field_are_refused) {
  for (const std::uint32_t a : {greatest_inverse_temperature + 1, 2 * greatest_inverse_temperature}) {
    try {
      const Verdict verdict = verdict_on_rest(a);
      ADD_FAILURE() << (verdict.accepted ? "accepted" : verdict.scope + ": " + verdict.reason);
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what())
                    .find("inverse temperature: expected at most " + std::to_string(greatest_inverse_temperature)),
                std::string::npos)
          << error.what();
    }
  }
}

/// Biases are part of them.
TEST(DenseLogits, whose_biases_could_leave_the_field_are_refused) {
  VerifyingKey key = loud_model().key;
  key.shape.head_bias = true;
  const Sampling sampling{greatest_inverse_temperature, 0, top_p_unit, max_cutoff, {}};
  const auto shifted = [&](int shift) {
    key.exponents[head_bias] = key.exponents[scales::uf] + key.exponents[head] - shift;
    return check_sampling(key, sampling, 1);
  };
  EXPECT_NO_THROW(shifted(20));
  EXPECT_THROW(shifted(46), InputError);
}

/// The least that is not refused leaves no room for the rest.
TEST(DenseLogits, are_not_taken_for_what_is_left_of_them) {
  const Verdict verdict = verdict_on_rest(greatest_inverse_temperature);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_TRUE(verdict.scope == lookup_scope || verdict.scope == opening_scope) << verdict.scope;
}

}  // namespace
}  // namespace tessera::test
