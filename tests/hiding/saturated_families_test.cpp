// Hiding keys with exceptions of models whose blocks are not Llama's.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/little_endian.hpp"

#include "../model/saturated_models.hpp"
#include "altered_messages.hpp"
#include "expected_pads.hpp"
#include "hiding_proving.hpp"
#include "same_layers.hpp"

namespace tessera::test {
namespace {

/// Reaches beyond windows.
const std::vector<std::uint32_t> listed_prompt{7, 30, 2, 19, 11, 25};
constexpr std::size_t listed_tokens = 2;

using MakeModel = Model (*)(FamilyKind);

template <MakeModel make>
TestModel& listed_model(FamilyKind kind) {
  static std::map<FamilyKind, TestModel> models;
  const auto found = models.find(kind);
  return found != models.end() ? found->second
                               : models.try_emplace(kind, make(kind), 1, default_exceptions).first->second;
}

HidingJob listed_job(TestModel& test) { return HidingJob(test, listed_prompt, listed_tokens); }

/// Of each list that has entries: an excess off by one, and an entry left out.
void expect_lies_rejected(HidingJob& job) {
  for (std::size_t list = 0; list < job.plan.clamped.size(); list += each_or_every(5)) {
    std::vector<Exception>& entries = job.witness->exceptions[list];
    const std::vector<Exception> honest = entries;
    if (honest.empty()) {
      continue;
    }
    const auto reject = [&](const char* what, const auto& lie) {
      SCOPED_TRACE(job.plan.clamped[list].name + ": " + what);
      lie(entries);
      EXPECT_FALSE(job.verify(job.prove(Digest{6}).payload).accepted);
      entries = honest;
    };
    using List = std::vector<Exception>;
    reject("an excess off by one", [](List& lied) { lied.back().excess += lied.back().excess > 0 ? 1 : -1; });
    reject("an entry left out", [](List& lied) { lied.erase(lied.begin() + std::ssize(lied) / 2); });
  }
  expect_accepted(job.verify(job.prove(Digest{7}).payload));
}

class SaturatedFamilies : public ::testing::TestWithParam<FamilyKind> {
 protected:
  static TestModel& saturated() { return listed_model<saturated_family>(GetParam()); }
};

TEST_P(SaturatedFamilies, have_values_in_every_list_and_say_which) {
  HidingJob job = listed_job(saturated());
  const Proof proof = job.prove(Digest{5});
  const Verdict verdict = job.verify(proof.payload);
  expect_accepted(verdict);
  std::size_t said = 0;
  for (std::size_t list = 0; list < job.plan.clamped.size(); ++list) {
    const std::string& name = job.plan.clamped[list].name;
    const std::size_t count = job.trace.exceptions[list].size();
    EXPECT_EQ(count == 0, name == "far") << name;
    if (count > 0) {
      ASSERT_LT(said, verdict.clamped.size());
      EXPECT_EQ(verdict.clamped[said].tensor, name);
      EXPECT_EQ(verdict.clamped[said].count, count);
      ++said;
    }
  }
  TestModel ordinary(random_family(GetParam()), 1, default_exceptions);
  HidingJob none = listed_job(ordinary);
  const Proof empty = none.prove(Digest{5});
  const Verdict accepted = none.verify(empty.payload);
  expect_accepted(accepted);
  EXPECT_TRUE(accepted.clamped.empty());
  expect_same_layers(proof.messages, empty.messages);
}

TEST_P(SaturatedFamilies, have_the_same_bytes_on_any_ranks) {
  const Model model = saturated_family(GetParam());
  const HiddenJobOptions options{.exceptions = default_exceptions};
  const Job job = prove_hidden_job(model, listed_prompt, listed_tokens, 1, 1, options);
  const Verdict verdict = verify_inference(job.key, job.statement, job.payload);
  expect_accepted(verdict);
  EXPECT_FALSE(verdict.clamped.empty());
  for (const int ranks : {2, 3}) {
    const Job other = prove_hidden_job(model, listed_prompt, listed_tokens, ranks, 1, options);
    EXPECT_EQ(other.statement, job.statement) << ranks << " ranks";
    EXPECT_TRUE(other.payload == job.payload) << ranks << " ranks";
  }
}

TEST_P(SaturatedFamilies, have_a_pad_on_every_element_before_the_opening) { expect_pads(listed_job(saturated())); }

TEST_P(SaturatedFamilies, lies_about_lists_are_rejected) {
  HidingJob job = listed_job(saturated());
  expect_lies_rejected(job);
}

TEST_P(SaturatedFamilies, reject_every_altered_message) { expect_altered_messages_rejected(saturated(), {}); }

INSTANTIATE_TEST_SUITE_P(All, SaturatedFamilies,
                         ::testing::Values(parallel_norms, shared_norm, layer_norms, norms_after, norms_around,
                                           capped_scores),
                         [](const auto& kind) { return family_names[kind.param]; });

class DistantFamilies : public ::testing::TestWithParam<FamilyKind> {
 protected:
  static TestModel& distant() { return listed_model<distant_family>(GetParam()); }
};

TEST_P(DistantFamilies, list_distances_and_nothing_else) {
  HidingJob job = listed_job(distant());
  const Verdict verdict = job.verify(job.prove(Digest{5}).payload);
  expect_accepted(verdict);
  ASSERT_EQ(verdict.clamped.size(), 1U);
  EXPECT_EQ(verdict.clamped.front().tensor, "far");
  EXPECT_GT(verdict.clamped.front().count, 10U);
  expect_lies_rejected(job);
}

/// Of a proof whose only exception is this one of the list. The rest of it is of the lists that it had.
Verdict verdict_of_entry(const HidingJob& job, const Proof& proof, std::size_t list, const Exception& entry) {
  const auto number = std::ranges::find(proof.messages, "exceptions", &Message::label);
  const auto places = std::ranges::find(proof.messages, "places", &Message::label);
  std::vector<std::uint8_t> payload(proof.payload.begin(),
                                    proof.payload.begin() + static_cast<std::ptrdiff_t>(number->offset));
  append_little_endian(payload, std::uint32_t{1});
  for (std::size_t i = 0; i < job.plan.clamped.size(); ++i) {
    append_little_endian(payload, static_cast<std::uint32_t>(i == list ? 1 : 0));
    if (i == list) {
      append_little_endian(payload, entry.place);
      append_little_endian(payload, entry.excess);
    }
  }
  payload.insert(payload.end(), proof.payload.begin() + static_cast<std::ptrdiff_t>(places->offset + places->length),
                 proof.payload.end());
  return job.verify(payload);
}

/// Keys behind a query or before its window have no distance; lists are in clear, so that is seen at once.
TEST_P(DistantFamilies, list_no_keys_that_are_not_seen) {
  HidingJob job = listed_job(distant());
  const Proof proof = job.prove(Digest{6});
  const auto far = std::ranges::find(job.plan.clamped, "far", &ClampedTensor::name);
  ASSERT_NE(far, job.plan.clamped.end());
  const auto reason_of = [&](std::size_t query, std::size_t key) {
    const std::size_t keys = far->shape.dimensions().back().length;
    const Verdict verdict =
        verdict_of_entry(job, proof, static_cast<std::size_t>(far - job.plan.clamped.begin()), {query * keys + key, 5});
    EXPECT_FALSE(verdict.accepted);
    return verdict.reason;
  };
  const std::string outside = "an exception outside its tensor";
  const std::size_t last = job.plan.tokens - 1;
  const std::size_t first = far->shape.first_key(0, last);  // in the first block, which has a window
  ASSERT_GT(first, 0U);
  EXPECT_EQ(reason_of(last, first - 1), outside);
  EXPECT_EQ(reason_of(0, 1), outside);
  EXPECT_NE(reason_of(last, first), outside);
  EXPECT_NE(reason_of(last, last), outside);
}

INSTANTIATE_TEST_SUITE_P(Windows, DistantFamilies, ::testing::Values(norms_after, norms_around),
                         [](const auto& kind) { return family_names[kind.param]; });

}  // namespace
}  // namespace tessera::test
