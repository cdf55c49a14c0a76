// Whole proofs of texts whose rows are no power of two: chunks that are absent, filler in the last one that is present.

#include <gtest/gtest.h>

#include "../model/random_model.hpp"
#include "turns.hpp"

namespace tessera::test {
namespace {

using Ids = std::vector<std::uint32_t>;

/// Rows of filler may stand behind the last position.
constexpr std::size_t positions = 70;

Model random_model(const ModelShape& shape) {
  Model model = RandomModel(7).make(shape);
  for (std::size_t id = 0; id < shape.n_vocab; ++id) {
    model.tokenizer.vocabulary.emplace_back(1, static_cast<char>('!' + id));
  }
  model.tokenizer.end_of_text = static_cast<std::uint32_t>(shape.n_vocab - 1);
  return model;
}
/// Heads of twelve features, which straddle chunks; biases.
const Model& gpt2() {
  static const Model model = random_model({2, 36, 3, 80, 40, positions});
  return model;
}
/// Groups of two query heads, norms on heads, or biases.
const Model& llama(bool biases) {
  const auto make = [](bool with) {
    return random_model({2, 36, 6, 80, 40, positions, rotary_layers, 3, 6, !with, with, !with});
  };
  static const std::array models{make(false), make(true)};
  return models[biases ? 1 : 0];
}

struct Length {
  std::size_t tokens, rows;
};

class Lengths : public ::testing::TestWithParam<Length> {
 protected:
  void expect_same(const Model& model, std::size_t generate) const {
    const std::size_t prompt = GetParam().tokens - generate;
    const ModelPlan plan = ModelPlan::of(make_verifying_key(model), prompt, generate);
    EXPECT_EQ(plan.rows, GetParam().rows);
    EXPECT_GT(plan.passes.rows.chunk_count(), 1U);
    expect_same_on_any_ranks(model, {{prompt, generate}});
  }
};

TEST_P(Lengths, proofs_of_gpt2_are_accepted_and_the_same_on_any_ranks) { expect_same(gpt2(), 3); }
TEST_P(Lengths, proofs_of_llama_are_accepted_and_the_same_on_any_ranks) {
  expect_same(llama(GetParam().tokens % 4 == 1), 5);
}

INSTANTIATE_TEST_SUITE_P(Rows, Lengths,
                         ::testing::Values(Length{17, 24}, Length{33, 40}, Length{47, 48}, Length{65, 72}),
                         [](const auto& length) { return std::to_string(length.param.tokens); });

// Whose past, rows and both together are in several chunks.

TEST(LengthsOfParts, gpt2) { expect_same_on_any_ranks(gpt2(), {{30, 3, 0, true}, {15, 3, 0, true}, {2, 1}}); }
TEST(LengthsOfParts, llama) {
  expect_same_on_any_ranks(llama(true), {{15, 2, 0, true}, {30, 3, 0, true}, {0, 2}});
  expect_same_on_any_ranks(llama(false), {{33, 1, 0, true}, {1, 17}});
}
/// Query tiles of one row and of eight, chunks of sixteen; then chunks as long as the pass, one with the past of the
/// keys in half a chunk.
TEST(LengthsOfParts, in_passes_of_a_length) {
  expect_same_on_any_ranks(gpt2(), {{30, 3, 8, true}, {15, 3, 1, true}, {0, 1, 128}});
  expect_same_on_any_ranks(llama(true), {{33, 2, 32, true}, {15, 2, 8}});
}

/// A verifier whose plan divides rows as some prover's did: a division says who has what, not what is proven.
TEST(Divided, a_plan_divides_nothing_that_a_verifier_sees) {
  for (const Model* model : {&gpt2(), &llama(true)}) {
    const Job job = prove_job(*model, {1, 2, 3, 4, 5, 6, 7}, 30, 1, 1);
    for (const Division& division : {Division{3, 8}, Division::finest(2), Division::finest(7)}) {
      const ModelPlan plan = ModelPlan::of(job.key, PassShape::of(job.statement), division);
      const Verdict verdict = verify_inference(plan, job.key, job.statement, job.payload);
      EXPECT_TRUE(verdict.accepted) << division.ranks << " ranks: " << verdict.scope << ": " << verdict.reason;
    }
  }
}

}  // namespace
}  // namespace tessera::test
