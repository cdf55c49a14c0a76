#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include "commitment/opening.hpp"
#include "commitment/schedule.hpp"

namespace tessera {
namespace {

CommittedOracle oracle_of(unsigned log_size, OracleParameters parameters) {
  return {OracleLayout({Shape({Dimension::whole(std::size_t{1} << log_size)})}), parameters, {}};
}

TEST(Soundness, PositionsOfTheReferenceCase) {
  EXPECT_EQ(positions_for(1, 0), 241U);
  EXPECT_EQ(positions_for(4, 0), 110U);
  EXPECT_EQ(positions_for(7, 0), 102U);
  EXPECT_EQ(positions_for(10, 0), 101U);
}

TEST(Soundness, PositionsDoNotDependOnTheLastBitOfALogarithm) {
  for (unsigned rate = 1; rate <= 16; ++rate) {
    for (unsigned grinding = 0; grinding <= 24; ++grinding) {
      const double exact = (100.0 - grinding) / (1.0 - std::log2(1.0 + std::exp2(-static_cast<double>(rate))));
      EXPECT_GT(std::abs(exact - std::round(exact)), 1e-6) << rate << " " << grinding;
    }
  }
}

TEST(Soundness, EveryRoundReachesTheTarget) {
  for (unsigned log_size = 7; log_size <= 27; ++log_size) {
    const std::vector<CommittedOracle> oracles{oracle_of(27, {7, 1}), oracle_of(log_size, {4, 1})};
    const SoundnessReport report{opening_soundness(oracles, 200)};
    EXPECT_GE(report.round_by_round_bits(), required_soundness_bits) << log_size;
    EXPECT_GT(report.union_bits(), 96.0);
    EXPECT_LT(report.union_bits(), report.round_by_round_bits());
  }
}

TEST(Soundness, ScheduleOfTheReferenceCase) {
  const std::vector<CommittedOracle> oracles{oracle_of(27, {7, 1})};
  const OpeningSchedule schedule = opening_schedule(oracles, 0);
  EXPECT_EQ(schedule.oracles[0].positions, 241U);
  EXPECT_EQ(schedule.oracles[0].log_domain(), 21U);
  EXPECT_EQ(schedule.log_vector, 20U);
  ASSERT_EQ(schedule.vectors.size(), 3U);
  EXPECT_EQ(schedule.vectors[0].log_columns, 16U);
  EXPECT_EQ(schedule.log_clear, 8U);
}

TEST(Soundness, LargerOracleLiesFirstAndTiesKeepTheOrder) {
  const std::vector<CommittedOracle> oracles{oracle_of(17, {7, 1}), oracle_of(16, {4, 1}), oracle_of(14, {4, 1})};
  const OpeningSchedule schedule = opening_schedule(oracles);
  EXPECT_EQ(schedule.oracles[1].offset, 0U);
  EXPECT_EQ(schedule.oracles[0].offset, 1U << 12);
  EXPECT_EQ(schedule.oracles[2].offset, (1U << 12) + (1U << 10));
  EXPECT_EQ(schedule.log_vector, 13U);
}

TEST(Soundness, ParametersOutsideTheRangeAreRefused) {
  for (const OracleParameters wrong :
       {OracleParameters{3, 1}, OracleParameters{8, 1}, OracleParameters{6, 0}, OracleParameters{4, 22}}) {
    const std::vector<CommittedOracle> oracles{oracle_of(20, wrong)};
    EXPECT_THROW(opening_schedule(oracles), std::invalid_argument);
  }
}

TEST(Soundness, UnionOfEqualErrors) {
  const SoundnessReport report{{{"a", "", 101}, {"b", "", 101}, {"c", "", 1000}}};
  EXPECT_DOUBLE_EQ(report.round_by_round_bits(), 101);
  EXPECT_DOUBLE_EQ(report.union_bits(), 100);
}

}  // namespace
}  // namespace tessera
