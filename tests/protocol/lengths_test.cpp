// Whole proofs of texts whose rows are no power of two: chunks that are absent, filler in the last one that is present.

#include <gtest/gtest.h>

#include "../model/random_model.hpp"
#include "proving.hpp"

namespace tessera::test {
namespace {

using Ids = std::vector<std::uint32_t>;

/// Rows of filler may stand behind the last position.
constexpr std::size_t positions = 70;

Model random_model(const ModelShape& shape) {
  Model model = testing::RandomModel(7).make(shape);
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
    return random_model({2, 36, 6, 80, 40, positions, Architecture::llama, 3, 6, !with, with, !with});
  };
  static const std::array models{make(false), make(true)};
  return models[biases ? 1 : 0];
}

/// A part of a conversation, before anything is generated.
struct Turn {
  std::size_t prompt, generate;
  std::uint32_t pass_length = 0;
  bool keeps = false;
};

struct Part {
  Statement statement;
  std::vector<std::uint8_t> payload;
  std::optional<ConversationState> kept;
};

/// The parts of a conversation on this many ranks, each after the one before.
std::vector<Part> prove_turns(const Model& model, const std::vector<Turn>& turns, int ranks) {
  std::vector<std::vector<Part>> parts(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& comm) {
    omp_set_num_threads(1);
    std::vector<Part>& mine = parts[static_cast<std::size_t>(comm.rank())];
    std::vector<ChunkedTensor<std::int16_t>> state;
    std::uint32_t next = 1;
    for (const Turn& turn : turns) {
      Statement statement;
      for (std::size_t i = 0; i < turn.prompt; ++i) {
        statement.prompt.push_back((next = (next * 29 + 7) % 40));
      }
      statement.generated.resize(turn.generate);
      statement.keeps = turn.keeps;
      statement.pass_length = turn.pass_length;
      statement.start = mine.empty() ? std::nullopt : mine.back().kept;
      const PassShape pass = PassShape::of(statement);
      const Division division = pass.division(comm.size());
      VerifyingKey key = make_verifying_key(model);
      const ParameterTensors parameters = ParameterTensors::of(model.shape, model.parameters, comm.rank(), division);
      MemoryCodewordStore codeword(
          encode_oracle(parameter_layout(key, division), key.parameter_oracle, parameters.views(), true, comm), comm);
      key.parameter_root = codeword.root();
      const ModelPlan plan = ModelPlan::of(key, pass, division);
      const Trace trace = run_inference(integer_model(model), plan, prompt_rows(statement), comm, {}, state);
      statement.generated = trace.generated_tokens();
      Proof proof = prove_inference(plan, key, statement, trace, parameters, codeword, comm);
      state = std::move(proof.state);
      const Verdict verdict = mine.empty() ? verify_beginning(key, statement, proof.payload)
                                           : verify_continuation(key, statement, proof.payload, mine.back().kept);
      EXPECT_TRUE(verdict.accepted) << "rejected at " << verdict.scope << ": " << verdict.reason;
      EXPECT_EQ(verdict.kept, proof.kept);
      mine.push_back({std::move(statement), std::move(proof.payload), proof.kept});
    }
  });
  for (const auto& mine : parts) {
    for (std::size_t i = 0; i < turns.size(); ++i) {
      EXPECT_TRUE(mine[i].payload == parts.front()[i].payload) << "ranks of one job differ";
    }
  }
  return std::move(parts.front());
}

void expect_same_on_any_ranks(const Model& model, const std::vector<Turn>& turns) {
  const std::vector<Part> alone = prove_turns(model, turns, 1);
  for (const int ranks : {2, 3}) {
    const std::vector<Part> together = prove_turns(model, turns, ranks);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      EXPECT_EQ(together[i].statement, alone[i].statement) << i << " on " << ranks;
      EXPECT_EQ(together[i].kept, alone[i].kept) << i << " on " << ranks;
      EXPECT_TRUE(together[i].payload == alone[i].payload) << i << " on " << ranks;
    }
  }
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
