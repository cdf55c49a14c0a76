#include <gtest/gtest.h>

#include <random>
#include <set>

#include "lying_prover.hpp"

namespace tessera::testing {
namespace {

using Cells = std::vector<ChunkedTensor<std::int64_t>>;

class HidingLies : public ::testing::Test {
 protected:
  void expect_lie_rejected(const std::string& name, const HidingLie& lie) {
    const Verdict verdict = job_.verify(prove_lie(job_, lie).payload);
    EXPECT_FALSE(verdict.accepted) << name;
    EXPECT_EQ(verdict.scope, opening_scope) << name << ": " << verdict.reason;
  }
  [[nodiscard]] std::size_t pairs() const { return job_.plan.hiding->pads.pairs.size(); }

  HidingJob job_;
};

TEST_F(HidingLies, none_is_accepted) {
  expect_accepted(job_.verify(prove_lie(job_, {}).payload));
  expect_accepted(job_.verify(prove_lie(job_, {.products = [](std::vector<E>&) {}}).payload));
}

/// A cell of every kind is not what is proven with. Cells of pads: all that are sent.
TEST_F(HidingLies, committed_cells_are_those_of_the_proof) {
  const auto by_one = [](HidingPlan::Tensor tensor, std::size_t element) {
    return HidingLie{.cells = [=](Cells& cells) { ++cells[tensor].values()[2 * element]; }};
  };
  const std::size_t pads = job_.plan.hiding->pads.pads;
  for (std::size_t i = 0; i < pads; i += std::max<std::size_t>(1, pads / 6)) {
    expect_lie_rejected("pad " + std::to_string(i), by_one(HidingPlan::pad, i));
  }
  expect_lie_rejected("last pad", by_one(HidingPlan::pad, pads - 1));
  for (const auto tensor : {HidingPlan::left, HidingPlan::right, HidingPlan::product}) {
    for (const std::size_t k : {std::size_t{0}, pairs() / 2, pairs() - 1, pairs()}) {
      expect_lie_rejected("tensor " + std::to_string(tensor) + ", product " + std::to_string(k), by_one(tensor, k));
    }
  }
}

/// A product of pads that is none: the liar proves with what is committed. The last is the random pair's: no constraint
/// depends on it, so that the products' sum-check alone finds it.
TEST_F(HidingLies, products_are_products) {
  for (const std::size_t k : {std::size_t{0}, pairs() / 2, pairs()}) {
    expect_lie_rejected("product " + std::to_string(k),
                        {.cells = [=](Cells& cells) { ++cells[HidingPlan::product].values()[2 * k]; },
                         .products = [=](std::vector<E>& products) { products[k] += E::one(); }});
  }
}

/// True products of factors that are not the pads: only that the factors are pads is false.
TEST_F(HidingLies, factors_of_products_are_pads) {
  const E scale = E::from_signed(3);
  for (const std::size_t k : {std::size_t{0}, pairs() / 2, pairs() - 1}) {
    expect_lie_rejected("product " + std::to_string(k), {.factors = [=](std::vector<E>& left, std::vector<E>& right) {
                          left[k] *= scale;
                          right[k] *= scale.inverse();
                        }});
  }
}

/// Each by a constraint of its own: of both factors, because a lie about one alone needs a false statement too.
TEST_F(HidingLies, every_factor_is_constrained_to_its_pad) {
  const Proof proof = job_.prove(Digest{3});
  VerifierTranscript transcript(statement_seed(job_.test.key, job_.statement), proof.payload);
  const HiddenProof hidden = verify_hidden_layers(job_.plan, job_.statement, transcript);
  std::set<std::array<HiddenCell, 2>> tied;
  for (const Affine& constraint : hidden.claims.constraints) {
    if (constraint.constant == E::zero() && constraint.terms.size() == 2 &&
        constraint.terms[0].coefficient + constraint.terms[1].coefficient == E::zero()) {
      tied.insert({constraint.terms[0].cell, constraint.terms[1].cell});
    }
  }
  for (std::uint32_t k = 0; k < pairs(); ++k) {
    const auto [first, second] = job_.plan.hiding->pads.pairs[k];
    using Kind = HiddenCell::Kind;
    EXPECT_TRUE(tied.contains({HiddenCell{Kind::pad, first}, {Kind::left, k}})) << k;
    EXPECT_TRUE(tied.contains({HiddenCell{Kind::pad, second}, {Kind::right, k}})) << k;
  }
}

/// Sum and rounds of other masks than the committed ones.
TEST_F(HidingLies, row_masks_are_the_committed_ones) {
  for (std::size_t i = 0; i < job_.plan.hiding->row_masks(); ++i) {
    expect_lie_rejected("mask " + std::to_string(i),
                        {.row_masks = [=](std::vector<E>& masks) { masks[i] += E::one(); }});
  }
}

/// Mask columns are constant along rows only by the prover's will: weights 1, x, x^2 sum up whatever cells there are.
/// Where the liar's rounds are those of the constants, the sums differ.
TEST_F(HidingLies, row_masks_that_are_not_constant_along_rows_are_rejected) {
  for (const std::size_t column : {0, 1, 2, 3, 4}) {
    const std::size_t cell = (column << job_.plan.witness_oracle.log_rows) + 1;
    expect_lie_rejected("column " + std::to_string(column),
                        {.cells = [=](Cells& cells) { ++cells[HidingPlan::mask].values()[cell]; }});
  }
}

/// The opening adds another vector than the leaves have: of the parameters' segment, of the witness's.
TEST_F(HidingLies, vector_mask_is_the_committed_one) {
  const OpeningSchedule schedule = opening_schedule(hiding_oracles(job_.plan, job_.test.key, {}));
  for (const CommittedWord& word : schedule.oracles) {
    for (const std::size_t column : {std::size_t{0}, word.columns - 1}) {
      expect_lie_rejected("place " + std::to_string(word.offset + column),
                          {.vector_mask = [=](std::vector<E>& mask) { mask[word.offset + column] += E::one(); }});
    }
  }
}

/// In the leaves: each of the four elements, all leaves altered alike (a codeword) or at random (none).
TEST_F(HidingLies, masks_in_leaves_are_the_vector_mask) {
  for (std::size_t element = 0; element < mask_elements; ++element) {
    const auto alter = [element](const std::function<F()>& by) {
      return HidingLie{.leaves = [=](std::span<F> blocks) {
        for (std::size_t i = element; i < blocks.size(); i += LeafExtras::block) {
          blocks[i] += by();
        }
      }};
    };
    expect_lie_rejected("codeword, element " + std::to_string(element), alter([] { return F::one(); }));
    auto random = std::make_shared<std::mt19937_64>(element);
    expect_lie_rejected("no codeword, element " + std::to_string(element),
                        alter([random] { return F::from_unsigned((*random)()); }));
  }
}

/// Other salt than the leaf was hashed with; every element of the first and the last opened leaf of both oracles.
TEST_F(HidingLies, every_element_of_an_opened_leaf_is_bound) {
  Proof proof = job_.prove(Digest{3});
  const std::size_t parameter_width = (std::size_t{1} << job_.test.key.parameter_oracle.log_rows) + salt_elements;
  const std::size_t witness_width =
      (std::size_t{1} << job_.plan.witness_oracle.log_rows) + mask_elements + salt_elements;
  std::size_t oracle = 0;
  for (const Message& message : proof.messages) {
    if (message.label == "columns" && oracle < 2) {
      const std::size_t bytes = sizeof(F) * (oracle == 0 ? parameter_width : witness_width);
      ASSERT_EQ(message.length % bytes, 0U);
      for (const std::size_t leaf : {std::size_t{0}, message.length - bytes}) {
        for (std::size_t at = message.offset + leaf; at < message.offset + leaf + bytes; at += sizeof(F)) {
          proof.payload[at] ^= 1;
          const Verdict verdict = job_.verify(proof.payload);
          expect_rejected(verdict, opening_scope);
          EXPECT_EQ(verdict.reason, "opened columns do not lead to the committed root");
          proof.payload[at] ^= 1;
        }
      }
      ++oracle;
    }
  }
  EXPECT_EQ(oracle, 2U);
  expect_accepted(job_.verify(proof.payload));
}

TEST(HidingMessages, every_altered_one_is_rejected) {
  for (const char* const name : {"odd-40k", "odd-qwen-60k"}) {
    SCOPED_TRACE(name);
    TestModel& test = hiding_model(name);
    HidingJob job(test, {1, 7, 3, 12, 20}, 2);
    Proof proof = job.prove(Digest{3});
    const PayloadVerifier verdict_of(test, job.statement);
    expect_accepted(verdict_of(proof.payload));
    for (std::size_t i = 0; i < proof.messages.size(); i += each_or_every(4)) {
      const Message& message = proof.messages[i];
      std::uint8_t& byte = proof.payload[message.offset + message.length / 2];
      byte ^= 1;
      EXPECT_FALSE(verdict_of(proof.payload).accepted) << message.path << ":" << message.label;
      byte ^= 1;
    }
    for (const std::size_t length : {std::size_t{0}, proof.payload.size() / 2, proof.payload.size() - 1}) {
      EXPECT_FALSE(verdict_of(std::span(proof.payload).first(length)).accepted) << length << " bytes";
    }
    proof.payload.push_back(0);
    EXPECT_FALSE(verdict_of(proof.payload).accepted) << "a byte more";
  }
}

/// Neither kind of proof is one under a key of the other kind, nor under the same model's key with another secret.
TEST(HidingMessages, prove_nothing_under_another_key) {
  HidingJob job;
  const Proof proof = job.prove(Digest{3});
  const auto rejected = [&](const auto& change) {
    VerifyingKey key = job.test.key;
    change(key);
    EXPECT_FALSE(verify_inference(key, job.statement, proof.payload).accepted);
  };
  rejected([](VerifyingKey& key) { key.hiding_proofs = 0; });
  rejected([](VerifyingKey& key) { ++key.hiding_proofs; });
  rejected([](VerifyingKey& key) { key.parameter_root = odd_model().key.parameter_root; });
  Statement other = job.statement;
  other.generated.front() ^= 1;
  EXPECT_FALSE(verify_inference(job.test.key, other, proof.payload).accepted);
}

}  // namespace
}  // namespace tessera::testing
