#include <gtest/gtest.h>

#include <omp.h>

#include <functional>

#include "datasets/dataset_file.hpp"
#include "changed_commitment.hpp"
#include "hiding_job.hpp"
#include "integer_model/integer_model.hpp"
#include "protocol/renewal.hpp"
#include "seed.hpp"

#include "cluster/thread_communicator.hpp"

namespace tessera::test {
namespace {

const Model& model() { return hiding_model().model; }

/// Commitments of two sizes, and a renewal from the first to the second.
struct Renewed {
  SelfCommunicator comm;
  HidingCommitment before{model(), 2, "before", comm};
  HidingCommitment after{model(), 40, "after", comm};
  Proof proof = renew(before, after, comm);
  [[nodiscard]] Verdict verify(std::span<const std::uint8_t> payload) const {
    return verify_renewal(before.key, after.key, payload);
  }
};

const Renewed& renewed() {
  static const Renewed made;
  return made;
}

TEST(Renewal, of_commitments_of_any_sizes_is_accepted) {
  const Renewed& made = renewed();
  ASSERT_NE(parameter_layout(made.before.key).log_size(), parameter_layout(made.after.key).log_size());
  expect_accepted(made.verify(made.proof.payload));
  SelfCommunicator comm;
  expect_accepted(verify_renewal(made.after.key, made.before.key, renew(made.after, made.before, comm).payload));
  const HidingCommitment alike(model(), 2, "other", comm);
  expect_accepted(verify_renewal(made.before.key, alike.key, renew(made.before, alike, comm).payload));
  EXPECT_GE(renewal_soundness(RenewalPlan::of(made.before.key, made.after.key)).round_by_round_bits(),
            required_soundness_bits);
}

TEST(Renewal, bytes_depend_on_the_seed_but_not_on_ranks_and_threads) {
  const Renewed& made = renewed();
  for (const int ranks : {2, 3}) {
    run_ranks(ranks, [&](Communicator& comm) {
      omp_set_num_threads(comm.rank() + 1);
      const HidingCommitment before(model(), 2, "before", comm);
      const HidingCommitment after(model(), 40, "after", comm);
      EXPECT_EQ(renew(before, after, comm).payload, made.proof.payload) << ranks << " ranks";
    });
  }
  SelfCommunicator comm;
  const Proof other = renew(made.before, made.after, comm, "another");
  expect_accepted(made.verify(other.payload));
  EXPECT_NE(other.payload, made.proof.payload);
}

/// The format of renewals: bytes change only together with format_version.
TEST(Renewal, bytes_are_those_of_the_format) {
  EXPECT_EQ(to_hex(blake2s(renewed().proof.payload)),
            "087f95ef92604c4a203475d0c74690bb3170086a4d8cc3dc1e9a60ad2c9ef756");
}

/// A liar's new commitment has another value somewhere in one tensor; everything else is done honestly.
TEST(Renewal, to_other_parameters_is_rejected) {
  const Renewed& made = renewed();
  SelfCommunicator comm;
  const std::size_t tensors = made.before.tensors.size() - 1;
  for (std::size_t t = 0; t < tensors; t += each_or_every(5)) {
    for (const bool last : {false, true}) {
      const ChangedCommitment changed(model(), 40, "after", comm, t, last);
      const HidingCommitment& other = changed.made;
      ASSERT_NE(other.key.parameter_root, made.after.key.parameter_root);
      const Verdict verdict = verify_renewal(made.before.key, other.key, renew(made.before, other, comm).payload);
      EXPECT_FALSE(verdict.accepted) << "tensor " << t;
      EXPECT_EQ(verdict.scope, opening_scope) << verdict.reason;
    }
  }
}

/// Random columns are the only thing that the commitments need not share.
TEST(Renewal, compares_everything_but_random_columns) {
  const Renewed& made = renewed();
  SelfCommunicator comm;
  ChunkedTensor<std::int64_t> tail;
  const HidingCommitment other(model(), 40, "after", comm, [&](std::vector<IntegerTensor>& views) {
    tail = *std::get<const ChunkedTensor<std::int64_t>*>(views.back());
    ++tail.values().front();
    views.back() = &tail;
  });
  expect_accepted(verify_renewal(made.before.key, other.key, renew(made.before, other, comm).payload));
}

TEST(Renewal, with_any_altered_message_is_rejected) {
  const Renewed& made = renewed();
  for (const Message& message : made.proof.messages) {
    for (const std::size_t at : {message.offset, message.offset + message.length - 1}) {
      std::vector<std::uint8_t> payload = made.proof.payload;
      payload[at] ^= 1;
      EXPECT_FALSE(made.verify(payload).accepted) << message.path << ":" << message.label;
    }
  }
  for (const std::size_t cut : {std::size_t{0}, std::size_t{31}, made.proof.payload.size() - 1}) {
    EXPECT_FALSE(made.verify(std::span(made.proof.payload).first(cut)).accepted) << cut;
  }
  std::vector<std::uint8_t> longer = made.proof.payload;
  longer.push_back(0);
  EXPECT_FALSE(made.verify(longer).accepted);
}

/// The transcript begins with both keys.
TEST(Renewal, proves_nothing_of_other_keys) {
  const Renewed& made = renewed();
  const auto rejected = [&](const VerifyingKey& before, const VerifyingKey& after, const char* why) {
    const Verdict verdict = verify_renewal(before, after, made.proof.payload);
    EXPECT_FALSE(verdict.accepted) << why;
    return verdict.scope;
  };
  const VerifyingKey& before = made.before.key;
  const VerifyingKey& after = made.after.key;
  EXPECT_NE(rejected(after, before, "exchanged"), "/statement");
  const auto changed = [](VerifyingKey key, const std::function<void(VerifyingKey&)>& change) {
    change(key);
    return key;
  };
  EXPECT_EQ(rejected(before, changed(after, [](VerifyingKey& key) { ++key.epsilon; }), "epsilon"), "/statement");
  EXPECT_EQ(rejected(before, changed(after, [](VerifyingKey& key) { ++key.gelu_table[5]; }), "table"), "/statement");
  EXPECT_EQ(rejected(before, changed(after, [](VerifyingKey& key) { ++key.filler; }), "filler"), "/statement");
  EXPECT_EQ(rejected(before, changed(after, [](VerifyingKey& key) { key.hiding_proofs = 0; }), "plain"), "/statement");
  EXPECT_EQ(rejected(changed(before, [](VerifyingKey& key) { key.hiding_proofs = 0; }), after, "plain"), "/statement");
  EXPECT_EQ(rejected(before, before, "the same"), "/statement");
  EXPECT_EQ(rejected(before, changed(after, [&](VerifyingKey& key) { key.parameter_root = before.parameter_root; }),
                     "the same root"),
            "/statement");
  EXPECT_EQ(
      rejected(before, changed(after, [](VerifyingKey& key) { ++key.hiding_proofs; }), "one proof more").substr(0, 1),
      "/");
  EXPECT_EQ(rejected(before, changed(after, [](VerifyingKey& key) { key.parameter_root[0] ^= 1; }), "another root")
                .substr(0, 1),
            "/");
}

/// Uses are taken before anything is made public.
TEST(Renewal, reserves_first) {
  const Renewed& made = renewed();
  SelfCommunicator comm;
  EXPECT_THROW((void)prove_renewal(
                   made.before.key, made.after.key, {side_of(made.before), side_of(made.after)}, seed_of("renewal"),
                   [] { throw InputError("none left"); }, comm),
               InputError);
}

}  // namespace
}  // namespace tessera::test
