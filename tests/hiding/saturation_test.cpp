#include <gtest/gtest.h>

#include "../model/saturated_models.hpp"
#include "hiding_job.hpp"
#include "same_layers.hpp"

namespace tessera::test {
namespace {

/// A hiding key whose issuer has allowed exceptions: proofs show the lists, and have the same messages whatever is
/// listed.
TEST(HidingSaturation, lists_are_in_clear_and_change_no_other_message) {
  TestModel with(saturated_gpt2(), 1, 4096);
  HidingJob job(with, {17, 42, 5}, 3);
  const Proof proof = job.prove(Digest{5});
  const Verdict verdict = job.verify(proof.payload);
  expect_accepted(verdict);
  EXPECT_GT(verdict.clamped.size(), 5U);

  TestModel ordinary(RandomModel(23).make({2, 36, 3, 144, 300, 48}), 1, 4096);
  HidingJob none(ordinary, {17, 42, 5}, 3);
  const Proof empty = none.prove(Digest{5});
  const Verdict accepted = none.verify(empty.payload);
  expect_accepted(accepted);
  EXPECT_TRUE(accepted.clamped.empty());
  expect_same_layers(proof.messages, empty.messages);
}

/// An excess off by one, and an entry more: what is hidden is checked by the opening.
TEST(HidingSaturation, lies_about_lists_are_rejected) {
  TestModel test(saturated_gpt2(), 1, 4096);
  HidingJob job(test, {17, 42, 5}, 3);
  for (std::size_t list = 0; list < job.plan.clamped.size(); ++list) {
    SCOPED_TRACE(job.plan.clamped[list].name);
    std::vector<Exception>& entries = job.witness->exceptions[list];
    const std::vector<Exception> honest = entries;
    if (honest.empty()) {
      continue;
    }
    entries.back().excess += entries.back().excess > 0 ? 1 : -1;
    EXPECT_FALSE(job.verify(job.prove(Digest{6}).payload).accepted);
    entries = honest;
  }
  expect_accepted(job.verify(job.prove(Digest{7}).payload));
}

}  // namespace
}  // namespace tessera::test
