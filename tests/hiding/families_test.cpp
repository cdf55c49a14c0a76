// Hiding keys of models whose blocks are not Llama's.

#include <gtest/gtest.h>

#include "base/errors.hpp"

#include "../model/family_model.hpp"
#include "altered_messages.hpp"
#include "expected_pads.hpp"
#include "hiding_proving.hpp"

namespace tessera::test {
namespace {

TestModel& hiding_family(FamilyKind kind) {
  static std::map<FamilyKind, TestModel> models;
  const auto found = models.find(kind);
  return found != models.end() ? found->second : models.try_emplace(kind, random_family(kind), 1).first->second;
}

/// Longer than windows, which reach over chunks.
const std::vector<std::uint32_t> long_prompt{7, 30, 2, 19, 11, 25, 38, 4, 4, 16, 33, 9, 21, 0, 14, 28, 5, 37, 1};

class HidingFamilies : public ::testing::TestWithParam<FamilyKind> {};

TEST_P(HidingFamilies, have_the_same_bytes_on_any_ranks_which_depend_on_the_seed) {
  const Model model = random_family(GetParam());
  const Job job = prove_hidden_job(model, long_prompt, 3);
  expect_accepted(verify_inference(job.key, job.statement, job.payload));
  for (const int ranks : {2, 3}) {
    const Job other = prove_hidden_job(model, long_prompt, 3, ranks);
    EXPECT_EQ(other.key.parameter_root, job.key.parameter_root) << ranks << " ranks";
    EXPECT_EQ(other.statement, job.statement) << ranks << " ranks";
    EXPECT_TRUE(other.payload == job.payload) << ranks << " ranks";
  }
  const Job other = prove_hidden_job(model, long_prompt, 3, 1, 1, {.seed = "another seed"});
  expect_accepted(verify_inference(other.key, other.statement, other.payload));
  EXPECT_EQ(other.statement, job.statement);
  EXPECT_NE(other.payload, job.payload);
  EXPECT_EQ(job.statement, prove_job(model, long_prompt, 3, 1, 1).statement);
}

const Sampling token_sampling{1000, 0, top_p_unit, 9000, Digest{8}};

TEST_P(HidingFamilies, have_a_pad_on_every_element_before_the_opening) {
  expect_pads(HidingJob(hiding_family(GetParam()), long_prompt, 3));
  if (!family_shape(GetParam()).logit_cap) {  // else it is not sampled
    expect_pads(HidingJob(hiding_family(GetParam()), long_prompt, 3, token_sampling));
  }
}

/// Sampled, where they may be.
TEST_P(HidingFamilies, are_proven_with_the_same_bytes_on_any_ranks) {
  const Model model = random_family(GetParam());
  const std::optional<Sampling> sampling = model.shape.logit_cap ? std::nullopt : std::optional(token_sampling);
  const Job job = prove_hidden_job(model, long_prompt, 3, 1, 1, {.sampling = sampling});
  expect_accepted(verify_inference(job.key, job.statement, job.payload));
  const Job other = prove_hidden_job(model, long_prompt, 3, 3, 1, {.sampling = sampling});
  EXPECT_EQ(other.statement, job.statement);
  EXPECT_TRUE(other.payload == job.payload);
}

/// Every element of F, root and hash that is sent before columns are opened is another one in a second proof of the
/// same statement, but for nonces of work, which are small numbers.
TEST_P(HidingFamilies, prove_the_same_statement_with_other_values) {
  HidingJob job(hiding_family(GetParam()), long_prompt, 3);
  const Proof proof = job.prove(Digest{3}), other = job.prove(Digest{4});
  expect_accepted(job.verify(proof.payload));
  expect_accepted(job.verify(other.payload));
  std::size_t compared = 0;
  for (std::size_t i = 0; i < proof.messages.size() && proof.messages[i].label != "columns"; ++i) {
    const Message& message = proof.messages[i];
    ASSERT_EQ(message.path + message.label, other.messages[i].path + other.messages[i].label);
    ASSERT_EQ(message.offset, other.messages[i].offset);
    ASSERT_EQ(message.length, other.messages[i].length);
    if (message.label == "work") {
      continue;
    }
    for (std::size_t at = message.offset; at + sizeof(F) <= message.offset + message.length; at += sizeof(F)) {
      EXPECT_NE(read_little_endian<std::uint64_t>(proof.payload.data() + at),
                read_little_endian<std::uint64_t>(other.payload.data() + at))
          << message.path << ":" << message.label;
      ++compared;
    }
  }
  EXPECT_GT(compared, 2 * job.plan.hiding->pads.pads);
}

/// A state would show keys and values.
TEST_P(HidingFamilies, have_no_conversations) {
  const TestModel& test = hiding_family(GetParam());
  Statement part{{1, 7, 3}, {5, 2}};
  EXPECT_NO_THROW((void)ModelPlan::of(test.key, part));
  const auto expect_refused = [&](const Statement& refused) {
    EXPECT_THROW((void)ModelPlan::of(test.key, refused), InputError);
    const Verdict verdict = verify_inference(test.key, refused, {});
    EXPECT_EQ(verdict.scope, "/statement");
    EXPECT_NE(verdict.reason.find("neither continues nor keeps a state, because the key is hiding"), std::string::npos)
        << verdict.reason;
  };
  part.keeps = true;
  expect_refused(part);
  part.keeps = false;
  part.start = ConversationState{{}, 4, 9};
  expect_refused(part);
}

TEST_P(HidingFamilies, reject_every_altered_message) {
  expect_altered_messages_rejected(hiding_family(GetParam()), {});
}

TEST(HidingFamilySampling, from_biased_logits_rejects_every_altered_message) {
  expect_altered_messages_rejected(hiding_family(shared_norm), token_sampling);
}

INSTANTIATE_TEST_SUITE_P(All, HidingFamilies,
                         ::testing::Values(parallel_norms, shared_norm, layer_norms, norms_after, norms_around,
                                           capped_scores),
                         [](const auto& kind) { return family_names[kind.param]; });

}  // namespace
}  // namespace tessera::test
