#pragma once

#include <gtest/gtest.h>

#include "proving.hpp"

namespace tessera::test {

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
inline std::vector<Part> prove_turns(const Model& model, const std::vector<Turn>& turns, int ranks) {
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
      Proof proof = prove_inference(plan, key, statement, trace, {parameters, codeword}, comm);
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

inline void expect_same_on_any_ranks(const Model& model, const std::vector<Turn>& turns) {
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

}  // namespace tessera::test
