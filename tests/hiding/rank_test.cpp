#include <gtest/gtest.h>

#include "derivative.hpp"
#include "echelon.hpp"
#include "hiding_opening.hpp"

namespace tessera::test {
namespace {

using Part = HidingOpening::Part;

/// Tails exactly as wide as what is opened, so that nothing is random without need.
OpeningSizes least_tails(OpeningSizes sizes, const OpeningValues& values, const Digest& seed) {
  while (true) {  // fewer columns, a lower rate, fewer positions
    HidingOpening opening(sizes, values, seed);
    (void)opening.sent(opening.draw(1));
    const OpeningSizes before = sizes;
    sizes.parameter_tail = opening.positions()[0].size();
    sizes.witness_tail = opening.positions()[1].size();
    if (sizes.parameter_tail == before.parameter_tail && sizes.witness_tail == before.witness_tail) {
      return sizes;
    }
  }
}

class SlowRank : public ::testing::TestWithParam<OpeningRows> {};

/// Positions of a vector that may be drawn and are not: as many random columns are to spare, and the one more.
std::size_t spare_columns(const CommittedWord& word, const std::vector<std::size_t>& positions) {
  return word.columns - word.fresh - OpeningSchedule::round_masks - positions.size();
}

/// With all challenges fixed, what an opening sends is determined by sums and rounds of masks, the opened columns and
/// the masked vector in clear: as many elements of F as there are random ones, but for random columns of vectors that
/// are to spare. They take all values, each of them needs every random element, and nothing else is sent.
TEST_P(SlowRank, everything_sent_is_as_random_as_checks_allow) {
  const FrozenChallenges frozen;
  const OpeningValues values(1), others(2);
  const Digest seed = seed_of("rank");
  const OpeningSizes sizes = least_tails({{GetParam().parameters, 1}, {GetParam().witness, 1}, 184, 184}, values, seed);
  HidingOpening opening(sizes, values, seed);
  Derivative<HidingOpening> derivative(opening, 3);
  Echelon span;
  for (const Part part : {Part::parameter_tail, Part::witness_tail, Part::rows}) {
    for (std::size_t i = 0; i < opening.size(part); ++i) {
      EXPECT_TRUE(span.add(derivative.by(part, i))) << "element " << i << " of part " << part << " hides nothing";
    }
  }
  std::size_t spare = 0;
  for (std::size_t i = 0; i < opening.size(Part::vector); ++i) {
    spare += span.add(derivative.by(Part::vector, i)) ? 0 : 1;
  }
  const OpeningSchedule& schedule = opening.schedule();
  std::size_t elements = 2 * (1 + 2 * std::size_t{schedule.row_variables}) +
                         (opening.positions()[0].size() << GetParam().parameters) +
                         (opening.positions()[1].size() << GetParam().witness) + 2 * schedule.clear_size;
  std::size_t expected_spare = 0;
  for (std::size_t round = 0; round < schedule.vectors.size(); ++round) {
    const std::vector<std::size_t>& positions = opening.positions()[2 + round];
    elements += 2 * OpeningSchedule::round_masks + (2 * positions.size() << OpeningSchedule::folding);
    expected_spare += 2 * spare_columns(schedule.vectors[round], positions) << OpeningSchedule::folding;
  }
  EXPECT_EQ(span.rank(), elements);
  EXPECT_EQ(spare, expected_spare);
  // other values explain what these send, and the map is affine
  HidingOpening other(sizes, others, seed);
  EXPECT_TRUE(span.spans(derivative.minus_origin(opening.sent(opening.draw(4)))));
  EXPECT_TRUE(span.spans(derivative.minus_origin(other.sent(other.draw(5)))));
}

INSTANTIATE_TEST_SUITE_P(Rows, SlowRank, ::testing::Values(OpeningRows{3, 3}, OpeningRows{4, 3}, OpeningRows{3, 4}),
                         [](const auto& rows) {
                           return "k_p" + std::to_string(rows.param.parameters) + "_k_w" +
                                  std::to_string(rows.param.witness);
                         });

/// Positions that a proof with this seed opens in the parameters.
std::vector<std::size_t> opened_parameters(const OpeningSizes& sizes, const OpeningValues& values, const Digest& seed) {
  HidingOpening opening(sizes, values, seed);
  (void)opening.prove(opening.draw(1));
  return opening.positions()[0];
}

/// Columns at these positions of a parameter oracle, by its random tail.
class TailColumns {
 public:
  TailColumns(unsigned log_rows, std::size_t columns, const OpeningValues& values, std::vector<std::size_t> positions)
      : log_rows_(log_rows),
        values_(values),
        positions_(std::move(positions)),
        tail_(columns_shape(columns, log_rows), {}, 0, 1),
        origin_(at_tail()) {}
  std::vector<F> by(std::size_t element) {
    tail_.values()[element] = 1;
    std::vector<F> columns = at_tail();
    tail_.values()[element] = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns[i] -= origin_[i];
    }
    return columns;
  }

 private:
  std::vector<F> at_tail() {
    const OracleLayout layout({OpeningValues::shape(), tail_.shape()});
    const std::vector<IntegerTensor> tensors{&values_.weights, &tail_};
    return commit_oracle(layout, {log_rows_, 1}, tensors, comm_)->columns(positions_);
  }

  unsigned log_rows_;
  const OpeningValues& values_;
  std::vector<std::size_t> positions_;
  SelfCommunicator comm_;
  ChunkedTensor<std::int64_t> tail_;
  std::vector<F> origin_;
};

/// A key that is good for two proofs: what both open of the parameters is random together, with as many columns in the
/// tail as there are positions, and not with one less.
TEST(SlowTwoProofs, need_a_tail_column_for_every_position) {
  const FrozenChallenges frozen;
  const OpeningValues values(1);
  constexpr unsigned log_rows = 3;
  const std::size_t most = parameter_tail_columns(2);
  const OpeningSizes sizes{{log_rows, 1}, {log_rows, 1}, most, parameter_tail_columns(1)};
  std::vector<std::size_t> positions = opened_parameters(sizes, values, seed_of("first"));
  std::ranges::copy(opened_parameters(sizes, values, seed_of("second")), std::back_inserter(positions));
  positions = distinct_positions(positions);
  ASSERT_LE(positions.size(), most);
  const std::size_t width = positions.size();
  TailColumns columns(log_rows, width, values, positions);
  Echelon span;
  for (std::size_t i = 0; i < (width - 1) << log_rows; ++i) {
    EXPECT_TRUE(span.add(columns.by(i)));
  }
  EXPECT_EQ(span.rank(), (width - 1) << log_rows);
  for (std::size_t i = (width - 1) << log_rows; i < width << log_rows; ++i) {
    EXPECT_TRUE(span.add(columns.by(i)));
  }
  EXPECT_EQ(span.rank(), positions.size() << log_rows);
}

}  // namespace
}  // namespace tessera::test
