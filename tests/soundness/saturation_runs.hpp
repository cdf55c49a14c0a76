#pragma once

#include "../model/saturated_models.hpp"
#include "parts.hpp"

namespace tessera::test {

const std::vector<std::uint32_t> saturated_prompt{17, 42, 5, 99, 120, 7, 64, 31};

/// Values of each kind leave their range; only far keys.
TestModel& saturated();
TestModel& distant();

/// The number of a clamped tensor.
std::size_t list_number(const ModelPlan& plan, const std::string& name);

/// An honest inference, and what a liar makes of its trace before the witness.
struct Told {
  TestModel& test;
  Statement statement;
  ModelPlan plan;
  Trace trace;

  Told(TestModel& model, std::vector<std::uint32_t> prompt, std::size_t generate = 5)
      : test(model),
        statement{std::move(prompt), std::vector<std::uint32_t>(generate)},
        plan(ModelPlan::of(test.key, PassShape::of(statement))),
        trace(run_inference(test.integers, plan, statement.prompt, test.comm)) {
    statement.generated = trace.generated_tokens();
  }
  [[nodiscard]] std::size_t list(const std::string& name) const { return list_number(plan, name); }
  std::vector<Exception>& entries(const std::string& name) { return trace.exceptions[list(name)]; }
  [[nodiscard]] Forgery forge() const { return {test, statement, plan, trace}; }
  [[nodiscard]] Verdict verdict(Forgery& forgery) const {
    return verify_inference(test.key, statement, forgery.prove().payload);
  }
  [[nodiscard]] Verdict verdict() const {
    Forgery forgery = forge();
    return verdict(forgery);
  }
};

Told gpt2_run();
Told distant_run();
Told llama_run(std::size_t kind);

/// What the verdict says of each tensor.
std::map<std::string, std::size_t> clamped_counts(const Verdict& verdict);

}  // namespace tessera::test
