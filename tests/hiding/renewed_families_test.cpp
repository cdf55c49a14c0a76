// Renewals of hiding keys of models whose blocks are not Llama's.

#include <gtest/gtest.h>

#include <functional>

#include "../model/family_model.hpp"
#include "changed_commitment.hpp"
#include "hiding_proving.hpp"
#include "protocol/renewal.hpp"

namespace tessera::test {
namespace {

class RenewedFamilies : public ::testing::TestWithParam<FamilyKind> {
 protected:
  Model model_ = random_family(GetParam());
  SelfCommunicator comm_;
};

/// The second commitment is that of prove_hidden_job().
TEST_P(RenewedFamilies, have_the_same_bytes_on_any_ranks_and_new_keys_that_prove) {
  Proof alone;
  VerifyingKey before, after;
  for (const int ranks : {1, 2, 3}) {
    run_ranks(ranks, [&](Communicator& comm) {
      const HidingCommitment old(model_, 40, "before", comm);
      const HidingCommitment renewed(model_, 1, "secret", comm);
      const Proof proof = renew(old, renewed, comm);
      if (ranks == 1) {
        alone = proof;
        before = old.key;
        after = renewed.key;
      }
      EXPECT_TRUE(proof.payload == alone.payload) << ranks << " ranks";
      EXPECT_EQ(renewed.key.digest(), after.digest()) << ranks << " ranks";
    });
  }
  expect_accepted(verify_renewal(before, after, alone.payload));
  const Job job = prove_hidden_job(model_, {7, 30, 2, 19, 11, 25}, 2);
  ASSERT_EQ(job.key.digest(), after.digest());
  expect_accepted(verify_inference(after, job.statement, job.payload));
  EXPECT_FALSE(verify_inference(before, job.statement, job.payload).accepted);
}

/// A liar's new commitment begins one tensor with another value; among them are those that Llama's blocks do not
/// have: norms behind branches and of all heads, biases, beta.
TEST_P(RenewedFamilies, with_another_value_in_one_tensor_are_rejected) {
  const HidingCommitment before(model_, 2, "before", comm_);
  const HidingCommitment after(model_, 40, "after", comm_);
  const std::vector<ParameterRow> rows = parameter_table(model_.shape);
  ASSERT_EQ(rows.size() + 1, before.tensors.size());
  for (std::size_t t = 0; t < rows.size(); t += each_or_every(5)) {
    SCOPED_TRACE(rows[t].name);
    const ChangedCommitment other(model_, 40, "after", comm_, t, false);
    ASSERT_NE(other.made.key.parameter_root, after.key.parameter_root);
    const Verdict verdict = verify_renewal(before.key, other.made.key, renew(before, other.made, comm_).payload);
    EXPECT_FALSE(verdict.accepted);
    EXPECT_EQ(verdict.scope, opening_scope) << verdict.reason;
  }
}

/// Windows, rotations, caps, norms' constants are no parameters: keys say them.
TEST_P(RenewedFamilies, with_other_constants_are_none) {
  const HidingCommitment before(model_, 2, "before", comm_);
  const HidingCommitment after(model_, 40, "after", comm_);
  const auto expect_refused = [&](const char* what, bool there, const std::function<void(VerifyingKey&)>& change) {
    SCOPED_TRACE(what);
    if (!there) {
      return;
    }
    VerifyingKey key = after.key;
    change(key);
    EXPECT_THROW((void)prove_renewal(before.key, key, {side_of(before), side_of(after)}, seed_of("renewal"), {}, comm_),
                 InputError);
    EXPECT_EQ(verify_renewal(before.key, key, renew(before, after, comm_).payload).scope, "/statement");
  };
  const ModelShape& shape = model_.shape;
  expect_refused("a window", !shape.window_of_block.empty(), [](auto& key) { ++key.shape.window_of_block[0]; });
  expect_refused("a rotation", shape.rotations > 1, [](auto& key) { key.shape.rotation_of_block[0] ^= 1U; });
  expect_refused("an angle", true, [](auto& key) { ++key.rotary_table.back(); });
  expect_refused("a cap", shape.score_cap, [](auto& key) { ++key.cap_table.back(); });
  expect_refused("a branch norm's epsilon", shape.norm_after(), [](auto& key) { ++key.epsilon_m; });
  expect_refused("a head norm's epsilon", shape.head_norm, [](auto& key) { ++key.epsilon_k; });
  expect_refused("exceptions", true, [](auto& key) { key.exceptions = default_exceptions; });
}

INSTANTIATE_TEST_SUITE_P(All, RenewedFamilies,
                         ::testing::Values(parallel_norms, shared_norm, layer_norms, norms_after, norms_around,
                                           capped_scores),
                         [](const auto& kind) { return family_names[kind.param]; });

}  // namespace
}  // namespace tessera::test
