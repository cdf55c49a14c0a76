#include <gtest/gtest.h>

#include "../model/saturated_models.hpp"
#include "proving.hpp"

namespace tessera::test {
namespace {

/// Proofs with exceptions in every list, places at borders of chunks among them: who lists what is no part of the
/// bytes.
void expect_same_bytes(const Model& model, const std::vector<std::uint32_t>& prompt, std::size_t generate,
                       std::uint32_t pass_length, const std::vector<std::pair<int, int>>& machines) {
  const Job first = prove_job(model, prompt, generate, 1, 1, pass_length);
  const Verdict verdict = verify_inference(first.key, first.statement, first.payload);
  EXPECT_TRUE(verdict.accepted) << verdict.scope << ": " << verdict.reason;
  EXPECT_FALSE(verdict.clamped.empty());
  for (const auto& [ranks, threads] : machines) {
    SCOPED_TRACE(::testing::Message() << ranks << " ranks, " << threads << " threads");
    const Job job = prove_job(model, prompt, generate, ranks, threads, pass_length);
    EXPECT_EQ(job.statement, first.statement);
    EXPECT_TRUE(job.payload == first.payload);
  }
}

TEST(SaturatedBytes, are_the_same_for_any_ranks_and_threads) {
  expect_same_bytes(saturated_gpt2(), {17, 42, 5, 99, 120, 7, 64, 31, 250, 3}, 8, 0,
                    {{1, 2}, {2, 1}, {3, 2}, {5, 1}, {7, 1}});
}

TEST(SaturatedBytes, are_the_same_where_ranks_share_heads) {
  for (const std::size_t kind : {1U, 2U}) {
    expect_same_bytes(saturated_llama(kind), {1, 7, 3, 12, 20, 4, 11}, 3, 4, {{2, 1}, {5, 2}, {9, 1}});
  }
}

TEST(SaturatedBytes, are_the_same_of_distant_keys) {
  expect_same_bytes(distant_gpt2(), {17, 42, 5, 99, 120, 7, 64, 31, 250, 3}, 3, 8, {{2, 1}, {5, 1}});
}

}  // namespace
}  // namespace tessera::test
