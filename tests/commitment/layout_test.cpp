#include <gtest/gtest.h>

#include "commitment/oracle.hpp"

#include "opening_case.hpp"

namespace tessera {
namespace {

TEST(OracleLayout, LargestChunkFirstThenTensorThenChunk) {
  const Shape small({Dimension::whole(5)});
  const Shape large({Dimension::outer(3), Dimension{64, 6}, Dimension{64, 6}});
  const Shape middle({Dimension::outer(2), Dimension::whole(256)});
  const OracleLayout layout({small, middle, large, middle});
  EXPECT_EQ(layout.offset(2, 0), 0U);
  EXPECT_EQ(layout.offset(2, 2), 2U * 4096);
  EXPECT_EQ(layout.offset(1, 0), 3U * 4096);
  EXPECT_EQ(layout.offset(1, 1), 3U * 4096 + 256);
  EXPECT_EQ(layout.offset(3, 0), 3U * 4096 + 512);
  EXPECT_EQ(layout.offset(0, 0), 3U * 4096 + 1024);
  EXPECT_EQ(layout.used(), 3U * 4096 + 1024 + 128);
  EXPECT_EQ(layout.log_size(), 14U);
}

TEST(OracleLayout, ChunksAreAlignedAndDisjoint) {
  for (const auto& shapes : {testing::OpeningCase::parameter_shapes(), testing::OpeningCase::witness_shapes()}) {
    const OracleLayout layout(shapes);
    std::vector<bool> taken(std::size_t{1} << layout.log_size());
    for (std::size_t t = 0; t < shapes.size(); ++t) {
      const std::size_t size = std::max<std::size_t>(shapes[t].chunk_size(), 128);
      for (std::size_t chunk = 0; chunk < shapes[t].chunk_count(); ++chunk) {
        EXPECT_EQ(layout.offset(t, chunk) % size, 0U);
        for (std::size_t i = 0; i < size; ++i) {
          EXPECT_FALSE(taken[layout.offset(t, chunk) + i]);
          taken[layout.offset(t, chunk) + i] = true;
        }
      }
    }
  }
}

/// Interpolates nothing: evaluates each row's polynomial at some points directly.
TEST(Codeword, ColumnsAreRowPolynomialsAtThePowersOfOmega) {
  SelfCommunicator self;
  const testing::OpeningCase data(self);
  for (std::size_t j = 0; j < 2; ++j) {
    const CommittedOracle& oracle = data.oracles[j];
    std::vector<F> flat(std::size_t{1} << oracle.layout.log_size());
    for (std::size_t t = 0; t < data.witnesses[j].tensors.size(); ++t) {
      std::visit(
          [&](const auto* tensor) {
            for (const std::size_t chunk : tensor->held()) {
              for (std::size_t i = 0; i < tensor->chunk(chunk).size(); ++i) {
                flat[oracle.layout.offset(t, chunk) + i] =
                    F::from_signed(static_cast<std::int64_t>(tensor->chunk(chunk)[i]));
              }
            }
          },
          data.witnesses[j].tensors[t]);
    }
    const unsigned log_rows = oracle.parameters.log_rows;
    const unsigned log_domain = oracle.layout.log_size() - log_rows + oracle.parameters.log_inverse_rate;
    const std::vector<std::size_t> positions{0, 1, 77, (std::size_t{1} << log_domain) - 1};
    const std::vector<F> columns = data.stores[j]->columns(positions);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const F x = F::root_of_unity(log_domain).power(positions[i]);
      for (std::size_t row = 0; row >> log_rows == 0; ++row) {
        F sum;
        for (std::size_t hi = flat.size() >> log_rows; hi-- > 0;) {
          sum = sum * x + flat[(hi << log_rows) + row];
        }
        ASSERT_EQ(columns[(i << log_rows) + row], sum);
      }
      const std::vector<Digest> leaf = data.stores[j]->nodes(0, std::span(positions).subspan(i, 1));
      EXPECT_EQ(leaf[0], hash_leaf(std::span(columns).subspan(i << log_rows, std::size_t{1} << log_rows)));
    }
  }
}

}  // namespace
}  // namespace tessera
