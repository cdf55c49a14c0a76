#include "opening/row_claims.hpp"

#include <gtest/gtest.h>

#include "cluster/thread_communicator.hpp"

#include "opening_case.hpp"

namespace tessera::test {
namespace {

/// 32 and 8 rows, in which a tensor's last chunk stands behind one in the first band that it does not follow in memory:
/// neither band had columns for it, and the first ended no later. Columns of the second tensor, all in the other band,
/// reach over both.
const OracleParameters two_bands{.log_rows = 6, .log_inverse_rate = 1, .absent_rows = 24};
const std::vector<Shape> tensors_of_two_bands{Shape({Dimension::outer(9), Dimension::whole(512)}),
                                              Shape({Dimension::outer(14), Dimension::whole(32)})};

/// A term for each tensor and band, with weights of their own.
std::vector<WeightTerm> random_terms(const OracleLayout& layout) {
  RandomElements random(8);
  std::vector<WeightTerm> terms;
  for (std::size_t tensor = 0; tensor < tensors_of_two_bands.size(); ++tensor) {
    const auto dimensions = tensors_of_two_bands[tensor].dimensions();
    for (const std::size_t band : layout.bands(tensor)) {
      const unsigned left = dimensions[1].bits() - two_bands.band(band).log_rows;
      terms.push_back(
          {0,
           tensor,
           band,
           {},
           {random.elements(std::size_t{1} << dimensions[0].bits()), random.elements(std::size_t{1} << left)}});
    }
  }
  return terms;
}

TEST(RowClaims, a_terms_weights_are_on_the_rows_of_all_bands) {
  const CommittedOracle oracle{OracleLayout(tensors_of_two_bands, two_bands), two_bands, {}};
  ASSERT_EQ(oracle.layout.offset(0, 8) / 32, oracle.layout.offset(0, 6) / 32 + 16) << "side by side";
  ASSERT_NE(oracle.layout.band(0, 7), oracle.layout.band(0, 8)) << "with another between them";
  const std::vector<WeightTerm> terms = random_terms(oracle.layout);
  ASSERT_EQ(terms.size(), 3U);

  SelfCommunicator self;
  const auto first = filled<std::int16_t>(tensors_of_two_bands[0], {0}, 1, self);
  const auto second = filled<std::int16_t>(tensors_of_two_bands[1], {0}, 2, self);
  const std::vector<F> matrix = OpeningCase::matrix(oracle.layout, two_bands, {&first, &second});
  std::vector<std::vector<E>> expected;
  for (const WeightTerm& term : terms) {
    std::vector<E>& sums = expected.emplace_back(64);
    for (std::size_t chunk = 0; chunk < tensors_of_two_bands[term.tensor].chunk_count(); ++chunk) {
      const ChunkColumns columns = chunk_columns(oracle, term.tensor, chunk);
      for (std::size_t c = 0; oracle.layout.band(term.tensor, chunk) == term.band && c < columns.count; ++c) {
        for (std::size_t row = 0; row < 64; ++row) {
          sums[row] += term.high[0][chunk] * term.high[1][c] * matrix[((columns.first + c) << 6) + row];
        }
      }
    }
  }
  for (const int ranks : {1, 2, 3}) {
    run_ranks(ranks, [&](Communicator& comm) {
      const auto some = filled<std::int16_t>(tensors_of_two_bands[0], {0}, 1, comm);
      const auto others = filled<std::int16_t>(tensors_of_two_bands[1], {0}, 2, comm);
      const std::vector<OracleWitness> witnesses{{{&some, &others}, nullptr}};
      EXPECT_TRUE(combine_rows(terms, std::span(&oracle, 1), witnesses, comm) == expected) << ranks;
    });
  }
}

}  // namespace
}  // namespace tessera::test
