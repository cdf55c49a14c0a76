#include <gtest/gtest.h>

#include <random>
#include <set>

#include "altered_messages.hpp"
#include "lying_prover.hpp"

namespace tessera::test {
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
  const OpeningSchedule schedule_ = opening_schedule(hiding_oracles(job_.plan, job_.test.key, {}));
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

/// The masks of vectors' rounds that a proof is made with, in its sums and rounds, and those that are committed to.
TEST_F(HidingLies, masks_of_vectors_are_the_committed_ones) {
  for (std::size_t round = 0; round < schedule_.vectors.size(); ++round) {
    for (std::size_t mask = 0; mask < OpeningSchedule::round_masks; ++mask) {
      int read = 0;
      expect_lie_rejected("mask " + std::to_string(mask) + " of vector " + std::to_string(round),
                          {.vectors = {.elements = [&](std::uint64_t, std::span<E> elements) {
                             const bool alone = elements.size() == OpeningSchedule::round_masks;
                             if (alone && static_cast<std::size_t>(read++ / 2) == round) {
                               elements[mask] += E::one();
                             }
                           }}});
    }
  }
}

/// A sum of the masks that is not theirs makes the claim another one.
TEST_F(HidingLies, sums_of_masks_are_those_of_their_rounds) {
  for (const int wrong : {0, 1}) {  // the sum alone, the rounds alone
    int read = 0;
    expect_lie_rejected("read " + std::to_string(wrong),
                        {.vectors = {.elements = [&](std::uint64_t, std::span<E> elements) {
                           if (elements.size() == OpeningSchedule::round_masks && read++ == wrong) {
                             elements[0] += E::one();
                           }
                         }}});
  }
}

/// Mask columns that differ from row to row; values that are not those of the bound words.
TEST_F(HidingLies, vectors_are_what_was_bound_and_their_masks_are_constant_along_rows) {
  constexpr std::size_t rows = std::size_t{1} << OpeningSchedule::folding;
  for (std::size_t round = 0; round < schedule_.vectors.size(); ++round) {
    const CommittedWord& word = schedule_.vectors[round];
    const auto altered = [&](std::size_t index) {
      return HidingLie{.vectors = {.values = [=](std::size_t at, std::span<E> values) {
                         if (at == round) {
                           values[index] += E::one();
                         }
                       }}};
    };
    for (const std::size_t mask : {std::size_t{0}, std::size_t{1}, OpeningSchedule::round_masks - 1}) {
      expect_lie_rejected("row of mask " + std::to_string(mask), altered((word.fresh + mask) * rows + 5));
    }
    expect_lie_rejected("first value", altered(0));
    expect_lie_rejected("a value", altered(word.fresh * rows / 2));
  }
}

/// Random columns may be any: they are nobody's values.
TEST_F(HidingLies, random_columns_are_free) {
  const HidingLie lie{.vectors = {.values = [this](std::size_t round, std::span<E> values) {
                        values[(schedule_.vectors[round].columns - 1) << OpeningSchedule::folding] += E::one();
                      }}};
  expect_accepted(job_.verify(prove_lie(job_, lie).payload));
}

/// The vector in clear has another mask than the leaves.
TEST_F(HidingLies, mask_of_the_clear_vector_is_the_committed_one) {
  for (const std::size_t place : {std::size_t{0}, std::size_t{schedule_.clear_size} - 1}) {
    int read = 0;
    expect_lie_rejected("place " + std::to_string(place),
                        {.vectors = {.elements = [&](std::uint64_t, std::span<E> elements) {
                           if (elements.size() == schedule_.clear_size && read++ == 1) {
                             elements[place] += E::one();
                           }
                         }}});
  }
}

/// In the leaves: both elements, all leaves altered alike (a codeword) or at random (none).
TEST_F(HidingLies, masks_in_leaves_are_that_of_the_clear_vector) {
  for (std::size_t element = 0; element < clear_mask_elements; ++element) {
    const auto alter = [element](const std::function<F()>& by) {
      return HidingLie{
          .vectors = {.leaves = [=](const std::shared_ptr<const LeafExtras>& leaves, const CommittedWord& word) {
            auto given = std::make_shared<GivenLeaves>(*leaves, word.log_domain());
            for (std::size_t i = element; i < given->blocks().size(); i += LeafExtras::block) {
              given->blocks()[i] += by();
            }
            return given;
          }}};
    };
    expect_lie_rejected("codeword, element " + std::to_string(element), alter([] { return F::one(); }));
    auto random = std::make_shared<std::mt19937_64>(element);
    expect_lie_rejected("no codeword, element " + std::to_string(element),
                        alter([random] { return F::from_unsigned((*random)()); }));
  }
}

/// Other salt or mask than the leaf was hashed with; every element of the first and the last opened leaf of each word.
TEST_F(HidingLies, every_element_of_an_opened_leaf_is_bound) {
  Proof proof = job_.prove(Digest{3});
  std::vector<CommittedWord> words = schedule_.oracles;
  words.insert(words.end(), schedule_.vectors.begin(), schedule_.vectors.end());
  auto word = words.begin();
  for (const Message& message : proof.messages) {
    if (message.label != "columns") {
      continue;
    }
    ASSERT_NE(word, words.end());
    const std::size_t bytes = sizeof(F) * (word++)->leaf_values();
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
  }
  EXPECT_EQ(word, words.end());
  expect_accepted(job_.verify(proof.payload));
}

TEST(HidingMessages, every_altered_one_is_rejected) {
  expect_altered_messages_rejected(hiding_model("odd-40k"), {});
  expect_altered_messages_rejected(hiding_model("odd-qwen-60k"), {});
  expect_altered_messages_rejected(hiding_model("odd-40k"), Sampling{1000, 0, top_p_unit, 9000, Digest{8}});
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
}  // namespace tessera::test
