#include "parts.hpp"

#include <algorithm>
#include <stdexcept>

namespace tessera::test {

Statement statement_after(const Part* before, Ids prompt, bool keeps) {
  Statement statement{std::move(prompt), {}};
  statement.keeps = keeps;
  if (before != nullptr) {
    statement.start = before->kept;
  }
  return statement;
}

Part prove_part(TestModel& test, const Part* before, Statement statement, const PlanChange& change, const Lie& lie,
                const PlanChange& change_proof) {
  Part part;
  part.statement = std::move(statement);
  ModelPlan plan = ModelPlan::of(test.key, PassShape::of(part.statement));
  if (change) {
    change(plan);
  }
  part.trace = run_inference(test.integers, plan, prompt_rows(part.statement), test.comm, {},
                             before != nullptr ? before->state : StateTensors{});
  part.statement.generated = part.trace.generated_tokens();
  const auto witness = make_witness(plan, part.statement, part.trace, test.parameters, test.comm);
  if (lie) {
    lie(*witness);
  }
  if (change_proof) {
    change_proof(plan);
  }
  Proof proof = prove_witness(plan, test.key, part.statement, *witness, *test.codeword, test.comm);
  part.payload = std::move(proof.payload);
  part.kept = proof.kept;
  part.nodes = std::move(proof.state_nodes);
  part.messages = std::move(proof.messages);
  part.state = std::move(witness->kept);
  return part;
}

Part prove_part(TestModel& test, const Part* before, Ids prompt, std::size_t generate, bool keeps,
                const PlanChange& change, const Lie& lie, const PlanChange& change_proof) {
  Statement statement = statement_after(before, std::move(prompt), keeps);
  statement.generated.resize(generate);
  return prove_part(test, before, std::move(statement), change, lie, change_proof);
}

Verdict verify(TestModel& test, const Part& part) { return verify_inference(test.key, part.statement, part.payload); }

void shift_tiles(ModelPlan& plan, std::ptrdiff_t more) {
  const Shape honest = plan.shapes.scores;
  std::vector<Dimension> dimensions = honest.dimensions();
  dimensions.back().length += static_cast<std::size_t>(more);
  const Shape lie(dimensions, Presence::causal);
  if (lie.chunk_count() == honest.chunk_count()) {
    throw std::logic_error("the same tiles");
  }
  const auto replace = [&](Shape& shape) { shape = shape == honest ? lie : shape; };
  const auto replace_all = [&](auto& list) {
    for (auto& entry : list) {
      replace(entry.shape);
    }
  };
  replace_all(plan.recorded);
  replace_all(plan.derived);
  replace_all(plan.ranges);
  replace_all(plan.pairs);
  replace_all(plan.lookup.columns);
  std::ranges::for_each(plan.witness_shapes, replace);
  replace(plan.shapes.scores);
  replace(plan.attention.scores);
  replace(plan.attention.exponential.shape);
  if (plan.attention.capped) {
    replace(plan.attention.capped->shape);
  }
  pack_witness(plan.witness_shapes).move_to(plan.witness_layout, plan.witness_oracle);
}

void expect_altered_messages_rejected(TestModel& test, Part part) {
  const PayloadVerifier verdict_of(test, part.statement);
  for (const Message& message : part.messages) {
    std::uint8_t& byte = part.payload.at(message.offset + message.length / 2);
    byte ^= 1;
    EXPECT_FALSE(verdict_of(part.payload).accepted) << message.path << ":" << message.label;
    byte ^= 1;
  }
  expect_accepted(verdict_of(part.payload));
  expect_accepted(verify(test, part));
}

}  // namespace tessera::test
