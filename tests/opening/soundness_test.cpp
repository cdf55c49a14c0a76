#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>
#include "opening/opening.hpp"
#include "opening/schedule.hpp"
#include "hash/merkle.hpp"

namespace tessera::test {
namespace {

CommittedOracle oracle_of(unsigned log_size, OracleParameters parameters) {
  return {OracleLayout({Shape({Dimension::whole(std::size_t{1} << log_size)})}, parameters), parameters, {}};
}

constexpr unsigned min_log_rows = 4;

/// What the opening of 200 claims on these oracles is.
Account account(const std::vector<CommittedOracle>& oracles) {
  std::vector<std::vector<Claim>> claims(oracles.size());
  for (std::size_t i = 0; i < 200; ++i) {
    claims[i % oracles.size()].push_back({{0, {Factor::at(Point(oracles[i % oracles.size()].layout.log_size()))}}, {}});
  }
  AccountingTranscript transcript;
  verify_opening(transcript, oracles, claims);
  return transcript.account();
}

TEST(Soundness, positions_of_the_reference_case) {
  EXPECT_EQ(positions_for(512, 0), 241U);
  EXPECT_EQ(positions_for(64, 0), 110U);
  EXPECT_EQ(positions_for(8, 0), 102U);
  EXPECT_EQ(positions_for(1, 0), 101U);
}

TEST(Soundness, positions_do_not_depend_on_the_last_bit_of_a_logarithm) {
  for (unsigned rate = 1; rate < rate_unit; ++rate) {
    for (unsigned grinding = 0; grinding <= 24; ++grinding) {
      const double exact = (100.0 - grinding) / (1.0 - std::log2(1.0 + rate / 1024.));
      EXPECT_GT(std::abs(exact - std::round(exact)), 1e-9) << rate << " " << grinding;
    }
  }
}

TEST(Soundness, every_round_reaches_the_target) {
  for (unsigned log_size = 7; log_size <= 32; ++log_size) {
    const std::vector<CommittedOracle> oracles{oracle_of(std::max(27U, log_size), {7, 1}), oracle_of(log_size, {4, 1})};
    const SoundnessReport report = account(oracles).soundness();
    EXPECT_GE(report.round_by_round_bits(), required_soundness_bits) << log_size;
    EXPECT_GT(report.union_bits(), 96.0);
    EXPECT_LT(report.union_bits(), report.round_by_round_bits());
  }
}

/// Work before row variables is the least that all of them together need, and none where they have enough without.
TEST(Soundness, row_variables_get_the_work_that_they_need) {
  for (const bool hiding : {false, true}) {
    for (unsigned log_size = 24; log_size <= 36; ++log_size) {
      std::vector<CommittedOracle> oracles{oracle_of(log_size, {7, 1}), oracle_of(std::min(log_size, 32U), {6, 1})};
      for (CommittedOracle& oracle : oracles) {
        oracle.extra = hiding ? 2 : 0;
      }
      const OpeningSchedule schedule = opening_schedule(oracles);
      for (std::size_t round = 0; round <= schedule.vectors.size(); ++round) {
        double domains = 0;
        for (const CommittedWord& word : schedule.opened_in_round(round)) {
          domains += static_cast<double>(word.domain().points());
        }
        const double bits = 128 - std::log2((round == 0 ? 7 : 4) * ((hiding ? 3 : 2) + domains));
        const unsigned work = schedule.row_work(round);
        EXPECT_GE(bits + work, required_soundness_bits) << log_size << ", round " << round;
        EXPECT_TRUE(work == 0 || bits + work < required_soundness_bits + 1) << log_size << ", round " << round;
      }
    }
  }
  // more work than a little is none
  for (const unsigned log_size : {36U, 37U, 38U}) {
    const std::vector<CommittedOracle> oracles{oracle_of(log_size, {7, 1})};
    EXPECT_EQ(opening_schedule(oracles).row_work(0), log_size == 36 ? 5U : log_size == 37 ? 6U : 0U);
  }
  // parameters and witness of a model of 1.2 G parameters and 512 tokens: 99.6 bits without work
  const std::vector<CommittedOracle> large{oracle_of(31, {7, 1}), oracle_of(30, {7, 1})};
  EXPECT_EQ(opening_schedule(large).row_work(0), 1U);
  EXPECT_EQ(opening_schedule(large).row_work(1), 0U);
  const std::vector<SoundnessEntry> entries = account(large).soundness().entries;
  EXPECT_NEAR(entries[1].bits, 1 + 128 - std::log2(7 * (2 + std::exp2(25) + std::exp2(24))), 1e-6);
}

/// Two oracles that differ in size, rows and rate: each entry by hand.
TEST(Soundness, every_entry_by_hand) {
  const std::vector<CommittedOracle> oracles{oracle_of(30, {7, 1}), oracle_of(27, {5, 2})};
  const std::vector<SoundnessEntry> entries = account(oracles).soundness().entries;
  // 2^23 + 2^22 values; 3*2^18, 3*2^14, 3*2^10, 3*2^6 columns, the last of which are in clear
  const double first_domains = std::exp2(24) + std::exp2(24);
  // three points a column of the first one: 36 of 64 pieces, as many of domains of 2^20, 2^18 and 2^17
  const std::vector<double> vector_domains{9 * std::exp2(18), 9 * std::exp2(16), 9 * std::exp2(14), 9 * std::exp2(13)};
  const std::vector<double> rates{1024 / 342., 1024 / 86., 1024 / 22., 1024 / 3.};
  const auto positions = [](double inverse_rate) {
    const double bits = -std::log2((1 + 1 / inverse_rate) / 2);
    return std::ceil(84 / bits);
  };
  std::vector<double> expected{128 - std::log2(199), 128 - std::log2(7 * (2 + first_domains))};
  expected.push_back(16 - positions(2) * std::log2((1 + 1 / 2.) / 2));
  expected.push_back(16 - positions(4) * std::log2((1 + 1 / 4.) / 2));
  expected.push_back(128 - std::log2(positions(2) + positions(4)));
  for (std::size_t i = 0; i < rates.size(); ++i) {
    expected.push_back(128 - std::log2(4 * (2 + vector_domains[i])));
    expected.push_back(16 - positions(rates[i]) * std::log2((1 + 1 / rates[i]) / 2));
    if (i + 1 < rates.size()) {
      expected.push_back(128 - std::log2(positions(rates[i])));
    }
  }
  expected.push_back(128 - std::log2(2 * 8));
  ASSERT_EQ(entries.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(entries[i].scope, "/opening");
    EXPECT_NEAR(entries[i].bits, expected[i], 1e-6) << entries[i].reason;
  }
}

TEST(Soundness, no_positions_make_a_proof_longer) {
  std::mt19937_64 random(5);
  for (const WordDomain domain : {WordDomain{1}, WordDomain{4}, WordDomain{9}, WordDomain{14}, WordDomain{12, 1},
                                  WordDomain{12, 13}, WordDomain{14, 31}}) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{93}, std::size_t{203}}) {
      const auto bytes = [&](std::vector<std::size_t> drawn) {
        const std::vector<std::size_t> positions = distinct_positions(std::move(drawn));
        std::size_t sum = positions.size() << (min_log_rows + 3);
        for (const auto& level : multiproof_siblings(positions, domain.log_size)) {
          sum += level.size() * sizeof(Digest);
        }
        return sum;
      };
      const std::size_t most = bytes(spread_positions(count, domain.points()));
      for (int i = 0; i < 50; ++i) {
        std::vector<std::size_t> drawn(count);
        std::ranges::generate(drawn, [&] { return random() % domain.points(); });
        EXPECT_LE(bytes(drawn), most) << count << " of " << domain.points();
      }
    }
  }
}

TEST(Soundness, schedule_of_the_reference_case) {
  const std::vector<CommittedOracle> oracles{oracle_of(27, {7, 1})};
  const OpeningSchedule schedule = opening_schedule(oracles, 0);
  EXPECT_EQ(schedule.oracles[0].positions, 241U);
  EXPECT_EQ(schedule.oracles[0].log_domain(), 21U);
  EXPECT_EQ(schedule.log_vector, 20U);
  ASSERT_EQ(schedule.vectors.size(), 3U);
  EXPECT_EQ(schedule.vectors[0].log_columns, 16U);
  EXPECT_EQ(schedule.log_clear, 8U);
}

TEST(Soundness, larger_oracle_lies_first_and_ties_keep_the_order) {
  const std::vector<CommittedOracle> oracles{oracle_of(17, {7, 1}), oracle_of(16, {4, 1}), oracle_of(14, {4, 1})};
  const OpeningSchedule schedule = opening_schedule(oracles);
  EXPECT_EQ(schedule.oracles[1].offset, 0U);
  EXPECT_EQ(schedule.oracles[0].offset, 1U << 12);
  EXPECT_EQ(schedule.oracles[2].offset, (1U << 12) + (1U << 10));
  EXPECT_EQ(schedule.log_vector, 13U);
}

TEST(Soundness, parameters_outside_the_range_are_refused) {
  for (const OracleParameters wrong :
       {OracleParameters{3, 1}, OracleParameters{8, 1}, OracleParameters{6, 0}, OracleParameters{4, 22},
        OracleParameters{6, 1, 4}, OracleParameters{6, 1, 32}, OracleParameters{6, 1, 64}, OracleParameters{4, 1, 16},
        OracleParameters{6, 1, 0, 32}, OracleParameters{6, 1, 0, 1}}) {
    EXPECT_THROW(opening_schedule(std::vector<CommittedOracle>{oracle_of(20, wrong)}), std::invalid_argument);
  }
}

TEST(Soundness, union_of_equal_errors) {
  const SoundnessReport report{{{"a", "", 101}, {"b", "", 101}, {"c", "", 1000}}};
  EXPECT_DOUBLE_EQ(report.round_by_round_bits(), 101);
  EXPECT_DOUBLE_EQ(report.union_bits(), 100);
}

}  // namespace
}  // namespace tessera::test
