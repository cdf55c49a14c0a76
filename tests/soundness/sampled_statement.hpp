#pragma once

#include "integer_model/integer_model.hpp"
#include "parts.hpp"

// Statements of odd_model() whose tokens are sampled, from a list or from the whole vocabulary.
namespace tessera::test {

inline const std::string sampling_scope = "/final/logits/sampling";

inline Statement sampled(const Sampling& sampling, std::size_t generate = 5) {
  Statement statement{odd_prompt, Ids(generate)};
  statement.sampling = sampling;
  return statement;
}

/// Runs it, which says what is generated.
inline Trace trace_of(TestModel& test, Statement& statement) {
  Trace trace = run_inference(test.integers, ModelPlan::of(test.key, statement), prompt_rows(statement), test.comm);
  statement.generated = trace.generated_tokens();
  return trace;
}

}  // namespace tessera::test
