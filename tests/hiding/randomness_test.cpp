#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "archive/hiding_files.hpp"
#include "commitment/hiding_leaves.hpp"
#include "commitment/residue_shares.hpp"
#include "hiding_job.hpp"

namespace tessera::testing {
namespace {

/// Every random element of a proof: pads, random pair, row masks, tail, the vector's mask, salts of the witness; and of
/// the parameters, which are the key's.
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
  std::vector<E> mask(std::size_t{1} << schedule.log_vector);
  KeyedStream(seed, "vector mask").elements(0, std::span<E>(mask));
  all.insert(all.end(), mask.begin(), mask.end());
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

/// What leaves hold is that randomness: salts of all leaves and the vector's mask at their points.
TEST(HidingRandomness, leaves_hold_it) {
  HidingJob job;
  SelfCommunicator comm;
  const Digest seed{1};
  const KeyedStream vector(seed, "vector mask");
  const auto salt = std::make_shared<KeyedStream>(seed, "salt");
  const OpeningSchedule schedule = opening_schedule(hiding_oracles(job.plan, job.test.key, {}));
  const MaskedLeaves extras(schedule, vector, salt, salt_elements);
  ASSERT_EQ(extras.count(), mask_elements + salt_elements);
  const ResidueShares shares(schedule.oracles[1].log_domain(), 0, 1);
  const std::vector<std::size_t> positions{0, 1, 77, shares.size() - 1};
  const std::vector<F> opened = extras.at(positions, comm);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const std::size_t position = positions[i];
    const F* const leaf = opened.data() + i * LeafExtras::block;
    for (std::size_t oracle = 0; oracle < 2; ++oracle) {
      const CommittedWord& word = schedule.oracles[oracle];
      std::vector<E> mask(word.columns);
      vector.elements(word.offset, std::span<E>(mask));
      const F point = F::root_of_unity(word.log_domain()).power(position);
      E value;
      for (std::size_t n = mask.size(); n-- > 0;) {
        value = value * point + mask[n];
      }
      const F* const found = leaf + (oracle == 0 ? 2 : 0);
      EXPECT_EQ(value, (E{found[0], found[1]})) << "oracle " << oracle << " at " << position;
    }
    const std::vector<std::size_t> one{position};
    const std::vector<F> block = salt_blocks(*salt, salt_elements, one);
    EXPECT_TRUE(std::equal(leaf + mask_elements, leaf + extras.count(), block.begin()));
    EXPECT_TRUE(std::all_of(leaf + extras.count(), leaf + LeafExtras::block, [](F zero) { return zero == F::zero(); }));
  }
}

/// What is opened is what was hashed, however ranks share positions.
TEST(HidingRandomness, opened_leaves_are_the_hashed_ones) {
  HidingJob job;
  SelfCommunicator comm;
  const KeyedStream vector(Digest{1}, "vector mask");
  const OpeningSchedule schedule = opening_schedule(hiding_oracles(job.plan, job.test.key, {}));
  const MaskedLeaves leaves(schedule, vector, std::make_shared<KeyedStream>(Digest{1}, "salt"), salt_elements);
  const unsigned log_domain = schedule.oracles.back().log_domain();
  std::vector<ResidueShares> all{ResidueShares::alone(log_domain, 0), ResidueShares::alone(log_domain, 1)};
  for (const int ranks : {2, 3, 5, 16}) {
    for (int rank = 0; rank < ranks; ++rank) {
      all.emplace_back(log_domain, rank, ranks);
    }
  }
  for (const ResidueShares& shares : all) {
    std::vector<F> blocks(shares.size() * LeafExtras::block, F::from_canonical(5));
    leaves.fill(shares, shares.mine(), blocks);
    std::vector<std::size_t> positions;
    for (std::size_t position = 0; position < std::size_t{1} << log_domain; position += 97) {
      if (shares.mine().contains(shares.class_of(position))) {
        positions.push_back(position);
      }
    }
    const std::vector<F> opened = leaves.at(positions, comm);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const auto hashed =
          std::span(blocks).subspan(shares.own_place(positions[i]) * LeafExtras::block, LeafExtras::block);
      ASSERT_TRUE(std::ranges::equal(hashed, std::span(opened).subspan(i * LeafExtras::block, LeafExtras::block)))
          << "position " << positions[i] << " of " << shares.ranks() << " ranks";
    }
  }
}

/// A long codeword's values are hashed on the way, a kept one's where they stand: salt and masks follow their columns
/// in both.
TEST(HidingRandomness, leaves_are_the_same_when_they_are_hashed_on_the_way) {
  SelfCommunicator comm;
  const OracleParameters parameters{4, 1};
  ChunkedTensor<std::int16_t> tensor(Shape({Dimension::outer(8), Dimension::whole(std::size_t{1} << 14)}), {0}, 0, 1);
  for (std::size_t i = 0; i < tensor.values().size(); ++i) {
    tensor.values()[i] = static_cast<std::int16_t>(i * 7919 % 4001);
  }
  const std::vector<IntegerTensor> views{&tensor};
  const OracleLayout layout({tensor.shape()});
  const CommittedOracle small{OracleLayout({Shape({Dimension::outer(8), Dimension::whole(256)})}), parameters, {}, 0};
  const std::vector<CommittedOracle> oracles{small, {layout, parameters, {}, mask_elements + salt_elements}};
  const KeyedStream vector(Digest{1}, "vector mask");
  const auto salt = std::make_shared<KeyedStream>(Digest{1}, "salt");
  const auto masked = [&](std::size_t budget) {
    return commit_carrier(oracles, views, vector, salt, comm, budget)->root();
  };
  const auto salted = [&](std::size_t budget) {
    return commit_oracle(layout, parameters, views, comm, budget, std::make_shared<SaltedLeaves>(salt, salt_elements))
        ->root();
  };
  constexpr std::size_t all = std::numeric_limits<std::size_t>::max();
  EXPECT_EQ(masked(0), masked(all));
  EXPECT_EQ(salted(0), salted(all));
  EXPECT_NE(salted(0), masked(0));
}

/// A secret may serve several commitments: their random elements are independent.
TEST(HidingRandomness, of_commitments_of_one_secret_differ) {
  const Digest seed = commitment_seed(Digest{1}, Digest{2}, 3);
  EXPECT_EQ(seed, commitment_seed(Digest{1}, Digest{2}, 3));
  EXPECT_NE(seed, commitment_seed(Digest{9}, Digest{2}, 3));
  EXPECT_NE(seed, commitment_seed(Digest{1}, Digest{9}, 3));
  EXPECT_NE(seed, commitment_seed(Digest{1}, Digest{2}, 9));
}

}  // namespace
}  // namespace tessera::testing
