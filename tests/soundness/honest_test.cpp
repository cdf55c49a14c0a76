#include <gtest/gtest.h>

#include "fixture.hpp"

namespace tessera::test {
namespace {

TEST(Honest, liar_without_lies_proves_the_same_bytes) {
  TestModel& test = odd_model();
  const Statement& statement = odd_statement();
  const Trace trace = infer(test.integers, statement.prompt, statement.generated.size(), test.comm);
  const Proof proof =
      prove_inference(odd_plan(), test.key, statement, trace, {test.parameters, *test.codeword}, test.comm);
  expect_accepted(verify_inference(test.key, statement, proof.payload));
  EXPECT_EQ(prove_lie(test, statement, {}).payload, proof.payload);
}

TEST(Honest, whole_heads_are_accepted) {
  TestModel& test = gutenberg_model();
  const Statement statement = true_statement(test, {1, 100, 1000, 7, 11}, 3);
  expect_accepted(verify_inference(test.key, statement, prove_lie(test, statement, {}).payload));
}

}  // namespace
}  // namespace tessera::test
