#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>

#include "opening/masking.hpp"
#include "words/salted_leaves.hpp"
#include "opening/vector_masks.hpp"
#include "derivative.hpp"
#include "echelon.hpp"
#include "field/encoding.hpp"
#include "frozen_challenges.hpp"
#include "other_masks.hpp"
#include "plan/hiding_witness.hpp"
#include "protocol/renewal.hpp"
#include "seed.hpp"

namespace tessera::test {
namespace {

/// The opening of a small renewal: one tensor, committed to twice.
class EqualityOpening {
 public:
  enum Part : std::size_t { rows, vector, first_tail, second_tail, carrier_tail, parts };
  using Randomness = std::array<std::vector<F>, parts>;

  /// Rows of both commitments, columns of the three random tails.
  EqualityOpening(const std::array<unsigned, 2>& log_rows, const std::array<std::size_t, 3>& tails,
                  std::uint64_t values)
      : weights_(Shape({Dimension::whole(100)}), {}, 0, 1) {
    std::mt19937_64 random(values);
    for (std::size_t i = 0; i < 100; ++i) {
      weights_.values()[i] = static_cast<std::int16_t>(random());
    }
    constexpr unsigned carrier_rows = 3;
    // however few are used: else a tail that is one shorter may halve the domain and need more positions
    constexpr unsigned log_columns = 9;
    for (std::size_t side = 0; side < 2; ++side) {
      tails_[side] = ChunkedTensor<std::int64_t>(columns_shape(tails[side], log_rows[side]), {}, 0, 1);
      oracles_.push_back({OracleLayout({weights_.shape(), tails_[side].shape()}, log_rows[side] + log_columns),
                          {log_rows[side], 1},
                          {},
                          salt_elements});
    }
    row_variables_ = std::max({log_rows[0], log_rows[1], carrier_rows});
    row_masks_.resize(hiding_row_masks(row_variables_));
    masks_ = ChunkedTensor<std::int64_t>(columns_shape(2 * row_masks_.size(), carrier_rows), {}, 0, 1);
    tails_[2] = ChunkedTensor<std::int64_t>(columns_shape(tails[2], carrier_rows), {}, 0, 1);
    oracles_.push_back({OracleLayout({masks_.shape(), tails_[2].shape()}, carrier_rows + log_columns),
                        {carrier_rows, 1},
                        {},
                        salt_elements});
    schedule_ = opening_schedule(oracles_);
    vector_elements_.resize(static_cast<std::size_t>(VectorMasks::size(schedule_)));
    sizes_[vector] = 2 * vector_elements_.size();
    for (std::size_t j = 0; j < 3; ++j) {
      sizes_[first_tail + j] = tails[j] << oracles_[j].parameters.log_rows;
    }
    sizes_[rows] = 2 * row_masks_.size();
    form_ = {0, {Factor::at(Point(7, E{F::from_unsigned(3), F::from_unsigned(5)}))}};
  }

  [[nodiscard]] std::size_t size(std::size_t part) const { return sizes_[part]; }
  [[nodiscard]] Randomness draw(std::uint64_t seed) const {
    std::mt19937_64 random(seed);
    Randomness drawn;
    for (std::size_t part = 0; part < parts; ++part) {
      drawn[part].resize(sizes_[part]);
      std::ranges::generate(drawn[part], [&] { return F::from_unsigned(random()); });
    }
    return drawn;
  }

  /// All elements of F that are sent.
  std::vector<F> sent(const Randomness& randomness) { return sent(randomness, {}); }
  /// `lie`: changes row masks once they are committed. Throws Rejected.
  using Lie = std::function<void(std::vector<E>& rows)>;
  std::vector<F> sent(const Randomness& randomness, const Lie& lie) {
    set(randomness);
    if (lie) {
      lie(row_masks_);
    }
    FreezableProver transcript(seed_of("renewal"));
    transcript.set_listener(
        {.draws = [&](const std::vector<std::size_t>& drawn) { positions_.push_back(distinct_positions(drawn)); }});
    positions_.clear();
    const GivenMasks masks(vector_, vector_elements_);
    prove_equality_opening(transcript, oracles_, witnesses(), std::span(&form_, 1), 0, {row_masks_, &masks}, comm_);
    FreezableVerifier verifier(seed_of("renewal"), transcript.payload());
    verify_equality_opening(verifier, oracles_, std::span(&form_, 1), 0);
    verifier.finish();
    return elements_sent(transcript);
  }

  /// Positions of an oracle, then of a vector.
  [[nodiscard]] std::size_t opened(std::size_t word) const { return positions_[word].size(); }
  [[nodiscard]] const OpeningSchedule& schedule() const { return schedule_; }
  [[nodiscard]] unsigned log_rows(std::size_t oracle) const { return oracles_[oracle].parameters.log_rows; }

 private:
  [[nodiscard]] std::vector<OracleWitness> witnesses() const {
    return {{{&weights_, &tails_[0]}, stores_[0].get()},
            {{&weights_, &tails_[1]}, stores_[1].get()},
            {{&masks_, &tails_[2]}, stores_[2].get()}};
  }

  void set(const Randomness& randomness) {
    for (std::size_t i = 0; i < row_masks_.size(); ++i) {
      row_masks_[i] = {randomness[rows][2 * i], randomness[rows][2 * i + 1]};
      const std::size_t height = std::size_t{1} << log_rows(2);
      for (std::size_t row = 0; row < height; ++row) {
        masks_.values()[2 * i * height + row] = signed_value(row_masks_[i].c0);
        masks_.values()[(2 * i + 1) * height + row] = signed_value(row_masks_[i].c1);
      }
    }
    for (std::size_t i = 0; i < vector_elements_.size(); ++i) {
      vector_elements_[i] = {randomness[vector][2 * i], randomness[vector][2 * i + 1]};
    }
    for (std::size_t j = 0; j < 3; ++j) {
      std::ranges::transform(randomness[first_tail + j], tails_[j].values().begin(), signed_value);
    }
    const auto salt = std::make_shared<KeyedStream>(seed_of("renewal"), "salt");
    for (std::size_t j = 0; j < 3; ++j) {
      const CommittedOracle& oracle = oracles_[j];
      stores_[j] = commit_oracle(oracle.layout, oracle.parameters, witnesses()[j].tensors, comm_,
                                 default_codeword_budget, std::make_shared<SaltedLeaves>(salt, salt_elements));
      oracles_[j].root = stores_[j]->root();
    }
  }

  ChunkedTensor<std::int64_t> weights_, masks_;
  std::array<ChunkedTensor<std::int64_t>, 3> tails_;
  KeyedStream vector_{seed_of("vector masks"), "vector masks"};
  SelfCommunicator comm_;
  unsigned row_variables_ = 0;
  std::vector<E> row_masks_, vector_elements_;
  std::vector<CommittedOracle> oracles_;
  OpeningSchedule schedule_;
  std::array<std::size_t, parts> sizes_{};
  LinearForm form_;
  std::array<std::unique_ptr<CodewordStore>, 3> stores_;
  std::vector<std::vector<std::size_t>> positions_;
};

/// The row masks that a renewal is proven with are those that were committed, in each coordinate.
TEST(RenewalMasks, are_those_of_the_carrier) {
  EqualityOpening opening({3, 4}, {203, 203, 203}, 1);
  const EqualityOpening::Randomness randomness = opening.draw(1);
  EXPECT_NO_THROW((void)opening.sent(randomness));
  const std::array<E, 2> coordinates{E::one(), E{F::zero(), F::one()}};
  for (const E& coordinate : coordinates) {
    for (std::size_t i = 0; i < hiding_row_masks(4); ++i) {
      EXPECT_THROW((void)opening.sent(randomness, [&](auto& rows) { rows[i] += coordinate; }), Rejected);
    }
  }
}

/// As SlowRank has it of a proof's: what is sent is as random as its checks allow, each random element is needed, and
/// it says nothing of the tensor.
TEST(SlowRenewalRank, everything_sent_is_as_random_as_checks_allow) {
  const FrozenChallenges frozen;
  constexpr std::array<unsigned, 2> log_rows{3, 4};
  std::array<std::size_t, 3> tails{184, 184, 184};
  for (std::array<std::size_t, 3> before{}; before != tails;) {  // fewer columns, a lower rate, fewer positions
    EqualityOpening wide(log_rows, tails, 1);
    (void)wide.sent(wide.draw(1));
    before = tails;
    for (std::size_t j = 0; j < 3; ++j) {
      tails[j] = wide.opened(j);  // exactly as wide as what is opened, so that nothing is random without need
    }
  }
  EqualityOpening opening(log_rows, tails, 1);
  Derivative<EqualityOpening> derivative(opening, 3);
  Echelon span;
  for (const auto part : {EqualityOpening::first_tail, EqualityOpening::second_tail, EqualityOpening::carrier_tail,
                          EqualityOpening::rows}) {
    for (std::size_t i = 0; i < opening.size(part); ++i) {
      EXPECT_TRUE(span.add(derivative.by(part, i))) << "element " << i << " of part " << part << " hides nothing";
    }
  }
  for (std::size_t i = 0; i < opening.size(EqualityOpening::vector); ++i) {
    (void)span.add(derivative.by(EqualityOpening::vector, i));
  }
  const OpeningSchedule& schedule = opening.schedule();
  std::size_t elements = opening.size(EqualityOpening::rows) + 2 * schedule.clear_size;
  for (std::size_t j = 0; j < 3; ++j) {
    elements += opening.opened(j) << opening.log_rows(j);
  }
  for (std::size_t round = 0; round < schedule.vectors.size(); ++round) {
    elements += 2 * OpeningSchedule::round_masks + (2 * opening.opened(3 + round) << OpeningSchedule::folding);
  }
  EXPECT_EQ(span.rank(), elements);
  EqualityOpening other(log_rows, tails, 2);
  EXPECT_TRUE(span.spans(derivative.minus_origin(opening.sent(opening.draw(4)))));
  EXPECT_TRUE(span.spans(derivative.minus_origin(other.sent(other.draw(5)))));
}

}  // namespace
}  // namespace tessera::test
