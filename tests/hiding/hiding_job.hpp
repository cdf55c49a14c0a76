#pragma once

#include "base/little_endian.hpp"
#include "integer_model/import.hpp"
#include "plan/hiding_witness.hpp"
#include "protocol/hiding.hpp"

#include "../golden/golden_import.hpp"
#include "../soundness/fixture.hpp"

namespace tessera::test {

/// A bundled model under a hiding key, made once per process.
inline TestModel& hiding_model(const std::string& name = "odd-40k") {
  static std::map<std::string, TestModel> models;
  const auto found = models.find(name);
  if (found != models.end()) {
    return found->second;
  }
  return models.try_emplace(name, golden::import_bundled(name).model, 1).first->second;
}

/// A statement about it, ready to be proven any number of times.
struct HidingJob {
  TestModel& test;
  Statement statement;
  ModelPlan plan;
  Trace trace;
  std::unique_ptr<Witness> witness;

  explicit HidingJob(TestModel& model = hiding_model(), const std::vector<std::uint32_t>& prompt = {17},
                     std::size_t generate = 1, const std::optional<Sampling>& sampling = {})
      : test(model),
        statement(statement_of(test, prompt, generate, sampling)),
        plan(ModelPlan::of(test.key, statement)),
        trace(run_inference(test.integers, plan, prompt, test.comm)),
        witness(make_witness(plan, statement, trace, test.parameters, test.comm)) {}

  static Statement statement_of(TestModel& test, const std::vector<std::uint32_t>& prompt, std::size_t generate,
                                const std::optional<Sampling>& sampling) {
    if (!sampling) {
      return true_statement(test, prompt, generate);
    }
    Statement statement{prompt, std::vector<std::uint32_t>(generate)};
    statement.sampling = sampling;
    statement.generated =
        run_inference(test.integers, ModelPlan::of(test.key, statement), prompt, test.comm).generated_tokens();
    return statement;
  }
  [[nodiscard]] Proof prove(const Digest& seed) {
    return prove_hidden_witness(plan, test.key, statement, *witness, *test.codeword, test.comm,
                                {.hiding = HidingOptions{[this] { return IntegerTensor(&*test.random_tail); }, seed}});
  }
  [[nodiscard]] Verdict verify(std::span<const std::uint8_t> payload) const {
    return verify_inference(plan, test.key, statement, payload);
  }
};

}  // namespace tessera::test
