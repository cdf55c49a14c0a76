#include <gtest/gtest.h>

#include <limits>
#include <mutex>
#include <numeric>
#include <set>

#include "opening/clear_mask_leaves.hpp"
#include "words/salted_leaves.hpp"
#include "words/codeword.hpp"
#include "words/residue_shares.hpp"
#include "opening/vector_masks.hpp"
#include "cluster/thread_communicator.hpp"
#include "hash/merkle.hpp"
#include "hiding_job.hpp"

namespace tessera::test {
namespace {

/// Every random element of a proof: pads, random pair, row masks, tail, what is added to vectors, salts of the witness;
/// and of the parameters, which are the key's.
std::vector<F> random_elements(const HidingJob& job, const Digest& seed) {
  const HidingPlan& hiding = *job.plan.hiding;
  SelfCommunicator comm;
  const HidingWitness random(hiding, job.plan.witness_oracle, seed, comm);
  std::vector<E> all = random.pads();
  const std::size_t pairs = hiding.pads.pairs.size();
  all.push_back(random.left()[pairs]);
  all.push_back(random.right()[pairs]);
  all.insert(all.end(), random.row_masks().begin(), random.row_masks().end());
  const OpeningSchedule schedule = opening_schedule(hiding_oracles(job.plan, job.test.key, {}));
  const KeyedStream stream(seed, "vector masks");
  std::vector<E> vectors(static_cast<std::size_t>(VectorMasks::size(schedule)));
  stream.elements(0, std::span<E>(vectors));
  all.insert(all.end(), vectors.begin(), vectors.end());
  std::vector<F> elements;
  for (const E& element : all) {
    elements.push_back(element.c0);
    elements.push_back(element.c1);
  }
  const std::vector<IntegerTensor> tensors = random.tensors();
  const auto& tail = *std::get<const ChunkedTensor<std::int64_t>*>(tensors[HidingPlan::tail]);
  for (const std::int64_t cell : tail.values()) {
    elements.push_back(F::from_signed(cell));
  }
  std::vector<F> salt(salt_elements << schedule.oracles[1].log_domain());
  KeyedStream(seed, "salt").elements(0, std::span<F>(salt));
  elements.insert(elements.end(), salt.begin(), salt.end());
  return elements;
}

/// No two are alike, of one proof or of two, nor with the parameters' random columns; none is zero.
TEST(HidingRandomness, all_elements_are_fresh) {
  HidingJob job;
  std::set<std::uint64_t> seen{0};
  std::size_t count = 1;
  for (const auto seed : {std::uint8_t{1}, std::uint8_t{2}}) {
    for (const F element : random_elements(job, Digest{seed})) {
      seen.insert(element.value());
      ++count;
    }
  }
  for (const std::int64_t cell : job.test.random_tail->values()) {
    seen.insert(F::from_signed(cell).value());
    ++count;
  }
  EXPECT_EQ(seen.size(), count);
}

/// Every random element of the vectors has a place of its own: fresh columns, then the clear vector's mask.
TEST(HidingRandomness, vectors_take_each_element_once) {
  HidingJob job;
  const KeyedStream stream(Digest{1}, "vector masks");
  const OpeningSchedule schedule = opening_schedule(hiding_oracles(job.plan, job.test.key, {}));
  const VectorMasks masks(stream);
  std::vector<E> all(static_cast<std::size_t>(VectorMasks::size(schedule)));
  stream.elements(0, std::span<E>(all));
  auto next = all.begin();
  constexpr std::size_t rows = std::size_t{1} << OpeningSchedule::folding;
  for (std::size_t round = 0; round < schedule.vectors.size(); ++round) {
    const CommittedWord& word = schedule.vectors[round];
    std::vector<E> values(rows << word.log_columns);
    masks.fill(schedule, round, ResidueShares(word.log_columns, 0, 1), values);
    const std::vector<E> of_rounds = masks.of_rounds(schedule, round);
    for (std::size_t column = 0; column < values.size() / rows; ++column) {
      for (std::size_t row = 0; row < rows; ++row) {
        const bool mask = column >= word.fresh && column < word.fresh + OpeningSchedule::round_masks;
        const bool random = column >= word.fresh && column < word.columns && !mask;
        const E expected = mask ? *next : random ? *next : E::zero();
        ASSERT_EQ(values[column * rows + row], expected) << column << ", " << row;
        next += random || (mask && row + 1 == rows) ? 1 : 0;
        EXPECT_TRUE(!mask || of_rounds[column - word.fresh] == expected);
      }
    }
  }
  const std::vector<E> clear = masks.of_clear(schedule);
  EXPECT_TRUE(std::equal(clear.begin(), clear.end(), next, all.end()));
}

/// Of the last vector's leaves: the clear vector's mask at their points. What is opened is what was hashed, however
/// ranks share positions.
void expect_mask_in_leaves(const CommittedWord& word) {
  const WordDomain domain = word.domain();
  std::vector<E> mask(word.columns);
  KeyedStream(Digest{1}, "vector masks").elements(0, std::span<E>(mask));
  const std::shared_ptr<const LeafExtras> leaves = clear_mask_leaves(mask, word);
  ASSERT_EQ(leaves->count(), clear_mask_elements);
  std::vector<std::size_t> positions(domain.points());
  std::iota(positions.begin(), positions.end(), std::size_t{0});
  const std::vector<F> opened = leaves->at(positions);
  for (const std::size_t position : positions) {
    const F point = F::root_of_unity(word.log_domain()).power(domain.exponent(position));
    E value;
    for (std::size_t n = mask.size(); n-- > 0;) {
      value = value * point + mask[n];
    }
    const F* const leaf = opened.data() + position * LeafExtras::block;
    EXPECT_EQ(value, (E{leaf[0], leaf[1]})) << position;
    EXPECT_TRUE(std::all_of(leaf + 2, leaf + LeafExtras::block, [](F zero) { return zero == F::zero(); }));
  }
  for (const int ranks : {1, 2, 3, 5, 16}) {
    for (int rank = 0; rank < ranks; ++rank) {
      const ResidueShares shares = ResidueShares(word.log_domain(), rank, ranks);
      std::vector<F> blocks(shares.size() * LeafExtras::block, F::from_canonical(5));
      leaves->fill(domain, shares, shares.mine(), blocks);
      for (const std::size_t position : positions) {
        if (const std::size_t exponent = domain.exponent(position); shares.mine().contains(shares.class_of(exponent))) {
          const std::size_t place = shares.own_place(exponent);
          ASSERT_TRUE(std::equal(blocks.begin() + static_cast<std::ptrdiff_t>(place * LeafExtras::block),
                                 blocks.begin() + static_cast<std::ptrdiff_t>((place + 1) * LeafExtras::block),
                                 opened.begin() + static_cast<std::ptrdiff_t>(position * LeafExtras::block)))
              << "position " << position << " of " << ranks << " ranks";
        }
      }
    }
  }
}

TEST(HidingRandomness, leaves_hold_the_mask_of_the_clear_vector) {
  expect_mask_in_leaves({.log_rows = 4, .log_columns = 7, .log_inverse_rate = 3, .columns = 100});
  expect_mask_in_leaves({.log_rows = 4, .absent_pieces = 21, .log_columns = 10, .log_inverse_rate = 2, .columns = 700});
}

/// A vector's word with masks in its leaves is the same for any number of ranks, and however it is encoded.
void expect_same_words(const CommittedWord& word) {
  std::vector<E> values(std::size_t{16} << word.log_columns), mask(word.columns);
  KeyedStream(Digest{1}, "values").elements(0, std::span<E>(values));
  KeyedStream(Digest{1}, "vector masks").elements(0, std::span<E>(mask));
  const std::vector<std::size_t> positions{0, 1, 77, word.domain().points() - 1};
  SelfCommunicator self;
  const ResidueShares all_columns(word.log_columns, 0, 1);
  const auto alone =
      commit_vector({values, word.log_rows, all_columns}, word.domain(), self, clear_mask_leaves(mask, word));
  const std::vector<F> opened = alone->columns(positions);
  ASSERT_EQ(opened.size(), positions.size() * (32 + clear_mask_elements));
  const auto plain = commit_vector({values, word.log_rows, all_columns}, word.domain(), self);
  EXPECT_NE(plain->root(), alone->root());
  // leaf 1 with its mask and zeros is what was hashed
  std::vector<F> leaf(opened.begin() + 34, opened.begin() + 68);
  EXPECT_EQ(hash_leaf(leaf), alone->nodes(0, std::vector<std::size_t>{1}).front());
  for (const int ranks : {2, 3, 4}) {
    std::mutex mutex;
    run_ranks(ranks, [&](Communicator& comm) {
      const auto whole =
          commit_vector({values, word.log_rows, all_columns}, word.domain(), comm, clear_mask_leaves(mask, word));
      const std::vector<F> of_whole = whole->columns(positions);
      const ResidueShares columns(word.log_columns, comm.rank(), comm.size());
      std::vector<E> mine(columns.size() * 16);
      for (std::size_t column = 0; column < std::size_t{1} << word.log_columns; ++column) {
        if (columns.mine().contains(columns.class_of(column))) {
          std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(column * 16), 16,
                      mine.begin() + static_cast<std::ptrdiff_t>(columns.own_place(column) * 16));
        }
      }
      const auto shared =
          commit_vector({mine, word.log_rows, columns}, word.domain(), comm, clear_mask_leaves(mask, word));
      const std::vector<F> of_shared = shared->columns(positions);
      const std::scoped_lock lock(mutex);
      EXPECT_EQ(whole->root(), alone->root()) << ranks;
      EXPECT_EQ(shared->root(), alone->root()) << ranks;
      EXPECT_EQ(of_whole, opened) << ranks;
      EXPECT_EQ(of_shared, opened) << ranks;
    });
  }
}

TEST(HidingRandomness, words_with_masks_do_not_depend_on_ranks) {
  expect_same_words({.log_rows = 4, .log_columns = 12, .log_inverse_rate = 2, .columns = 4000});
  expect_same_words({.log_rows = 4, .absent_pieces = 19, .log_columns = 12, .log_inverse_rate = 2, .columns = 4000});
}

/// A long codeword's values are hashed as they are encoded, a kept one's where they stand: salt follows their columns
/// in both.
TEST(HidingRandomness, leaves_are_the_same_when_they_are_hashed_as_they_are_encoded) {
  SelfCommunicator comm;
  const OracleParameters parameters{4, 1};
  ChunkedTensor<std::int16_t> tensor(Shape({Dimension::outer(8), Dimension::whole(std::size_t{1} << 14)}), {0}, 0, 1);
  for (std::size_t i = 0; i < tensor.values().size(); ++i) {
    tensor.values()[i] = static_cast<std::int16_t>(i * 7919 % 4001);
  }
  const std::vector<IntegerTensor> views{&tensor};
  const OracleLayout layout({tensor.shape()});
  const auto salt = std::make_shared<KeyedStream>(Digest{1}, "salt");
  const auto root = [&](std::size_t budget, std::shared_ptr<const LeafExtras> extras) {
    return commit_oracle(layout, parameters, views, comm, budget, std::move(extras))->root();
  };
  const auto salted = std::make_shared<SaltedLeaves>(salt, salt_elements);
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(root(0, salted), root(all, salted));
  EXPECT_NE(root(0, salted), root(0, nullptr));
}

/// Of a word in pieces every leaf has salt of its own, which is opened as it was hashed, whoever has the piece.
TEST(HidingRandomness, every_leaf_of_a_word_in_pieces_has_its_salt) {
  const OracleParameters parameters{.log_rows = 4, .log_inverse_rate = 2, .absent_pieces = 21};
  const Shape shape({Dimension::outer(9), Dimension::whole(std::size_t{1} << 11)});
  const OracleLayout layout({shape});
  const WordDomain domain = layout.domain(parameters);
  ASSERT_TRUE(domain.valid());
  std::vector<std::size_t> all(domain.points());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto salt = std::make_shared<KeyedStream>(Digest{1}, "salt");
  std::vector<F> salts(all.size() * salt_elements);
  salt->elements(0, std::span<F>(salts));
  std::mutex mutex;
  std::set<Digest> roots;
  for (const int ranks : {1, 2, 3}) {
    run_ranks(ranks, [&](Communicator& comm) {
      ChunkedTensor<std::int16_t> tensor(shape, {0}, comm.rank(), comm.size());
      for (std::size_t i = 0; i < tensor.values().size(); ++i) {
        const std::size_t chunk = tensor.held()[i / shape.chunk_size()];
        tensor.values()[i] = static_cast<std::int16_t>((chunk * shape.chunk_size() + i % shape.chunk_size()) % 4001);
      }
      const std::vector<IntegerTensor> views{&tensor};
      const auto word = commit_oracle(layout, parameters, views, comm, default_codeword_budget,
                                      std::make_shared<SaltedLeaves>(salt, salt_elements));
      const std::vector<F> leaves = word->columns(all);
      const std::vector<Digest> digests = word->nodes(0, all);
      const std::scoped_lock lock(mutex);
      roots.insert(word->root());
      const std::size_t width = parameters.rows() + salt_elements;
      for (const std::size_t leaf : all) {
        const std::span<const F> own = std::span(leaves).subspan(leaf * width, width);
        ASSERT_TRUE(
            std::ranges::equal(own.last(salt_elements), std::span(salts).subspan(leaf * salt_elements, salt_elements)))
            << leaf;
        ASSERT_EQ(hash_leaf(own), digests[leaf]) << leaf;
      }
    });
  }
  EXPECT_EQ(roots.size(), 1U);
}

}  // namespace
}  // namespace tessera::test
