// Whole proofs of models whose blocks are not Llama's.

#include <gtest/gtest.h>

#include "base/errors.hpp"
#include "plan/limits.hpp"

#include "../model/family_model.hpp"
#include "turns.hpp"

namespace tessera::test {
namespace {

class Families : public ::testing::TestWithParam<FamilyKind> {};

/// The last text is longer than the windows, which reach over chunks, and into the past of a continuation.
TEST_P(Families, are_proven_with_the_same_bytes_on_any_ranks) {
  const Model model = random_family(GetParam());
  expect_same_on_any_ranks(model, {{7, 2}});
  expect_same_on_any_ranks(model, {{19, 3, 0, true}, {10, 2}});
}

/// From a list and from the whole vocabulary, with biases where the logits have some.
TEST_P(Families, are_sampled_with_the_same_bytes_on_any_ranks) {
  const Model model = random_family(GetParam());
  if (model.shape.logit_cap) {
    return;  // CappedKeys.are_not_sampled
  }
  const std::vector<std::uint32_t> prompt{7, 30, 2, 19, 11, 25, 38};
  for (const std::uint32_t top_k : {0U, 6U}) {
    Sampling sampling{1000, top_k, top_p_unit, 9000, {}};
    sampling.seed.fill(5);
    const Job alone = prove_job(model, prompt, 5, 1, 1, 0, sampling);
    const Verdict verdict = verify_inference(alone.key, alone.statement, alone.payload);
    EXPECT_TRUE(verdict.accepted) << "rejected at " << verdict.scope << ": " << verdict.reason;
    for (const int ranks : {2, 3}) {
      const Job together = prove_job(model, prompt, 5, ranks, 1, 0, sampling);
      EXPECT_EQ(together.statement, alone.statement) << top_k << " on " << ranks;
      EXPECT_TRUE(together.payload == alone.payload) << top_k << " on " << ranks;
    }
  }
}

/// The key says everything that inference is: what is read from its bytes is the same plan's.
TEST_P(Families, are_what_their_keys_say) {
  const Model model = random_family(GetParam());
  VerifyingKey key = make_verifying_key(model);
  const VerifyingKey again = VerifyingKey::decode(key.encode());
  EXPECT_EQ(again.shape, key.shape);
  EXPECT_EQ(again.widths, key.widths);
  EXPECT_EQ(again.exponents[scales::uncapped], key.exponents[scales::uncapped]);
  EXPECT_EQ(again.cap_table, key.cap_table);
  EXPECT_EQ(again.digest(), key.digest());
}

/// Refusals of keys whose caps are not what they may be.
TEST(CappedKeys, are_checked_field_by_field) {
  const VerifyingKey good = make_verifying_key(random_family(capped_scores));
  struct Case {
    const char* refused;
    std::function<void(VerifyingKey&)> change;
  };
  const std::vector<Case> cases{
      {"cap_table: expected 0 at 32768, found 1", [](VerifyingKey& k) { k.cap_table[1U << 15U] = 1; }},
      {"cap_table: expected -524287 to 524287 at 5, found 524288", [](VerifyingKey& k) { k.cap_table[5] = 1 << 19; }},
      {"cap_table: expected -524287 to 524287 at 0, found -524288",
       [](VerifyingKey& k) { k.cap_table[0] = -(1 << 19); }},
      {"cap_table: expected 2^16 rows, found 65535", [](VerifyingKey& k) { k.cap_table.pop_back(); }},
      {"cap_table: expected none without capped scores", [](VerifyingKey& k) { k.shape.score_cap = false; }},
      {"uncapped: expected 0 to 15, found 16", [](VerifyingKey& k) { k.exponents[scales::uncapped] = 16; }},
      {"uncapped: expected 0 to 15, found -1", [](VerifyingKey& k) { k.exponents[scales::uncapped] = -1; }},
      {"shift_score: expected 1 to 16, found 17", [](VerifyingKey& k) { k.exponents[scales::uncapped] = 6; }}};
  ASSERT_NO_THROW(check_key(good));
  for (const Case& wrong : cases) {
    VerifyingKey key = good;
    wrong.change(key);
    try {
      check_key(key);
      ADD_FAILURE() << wrong.refused;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(wrong.refused), std::string::npos) << error.what();
    }
  }
}

TEST(CappedKeys, have_a_field_for_each_cap_and_none_without) {
  const VerifyingKey good = make_verifying_key(random_family(capped_scores));
  const std::vector<std::uint8_t> whole = good.encode();
  const auto find = [&](const std::string& name) { return std::ranges::search(whole, name).begin() - whole.begin(); };
  for (const std::string name : {"score_cap", "logit_cap"}) {
    std::vector<std::uint8_t> bytes = whole;
    std::uint8_t& flag = bytes[static_cast<std::size_t>(find(name)) + name.size()];
    for (const std::uint8_t value : {std::uint8_t{0}, std::uint8_t{2}}) {
      flag = value;
      EXPECT_THROW(VerifyingKey::decode(bytes), InputError) << name;
    }
    // left out: other fields stand where those of a cap should
    bytes = whole;
    bytes.erase(bytes.begin() + find(name) - 4, bytes.begin() + find(name) + std::ssize(name) + 1);
    if (name == "score_cap") {
      EXPECT_THROW(VerifyingKey::decode(bytes), InputError);
    } else {
      const VerifyingKey other = VerifyingKey::decode(bytes);
      EXPECT_FALSE(other.shape.logit_cap);
      EXPECT_NE(other.digest(), good.digest());
    }
  }
}

/// Probabilities are not those of the logits that a proof is about.
TEST(CappedKeys, are_not_sampled) {
  const VerifyingKey key = make_verifying_key(random_family(capped_scores));
  PassShape pass{.prompt = 5, .generated = 2};
  pass.sampling = Sampling{.inverse_temperature = 4096, .top_k = 3, .top_p = 1 << 16, .cutoff = max_cutoff};
  try {
    static_cast<void>(ModelPlan::of(key, pass));
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "sampling: expected a model whose logits have no cap, found one that has");
  }
  VerifyingKey without = key;
  without.shape.logit_cap = false;
  EXPECT_NO_THROW(static_cast<void>(ModelPlan::of(without, pass)));
}

INSTANTIATE_TEST_SUITE_P(All, Families,
                         ::testing::Values(parallel_norms, shared_norm, layer_norms, norms_after, norms_around,
                                           capped_scores),
                         [](const auto& kind) { return family_names[kind.param]; });

}  // namespace
}  // namespace tessera::test
