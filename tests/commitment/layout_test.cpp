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

/// Of weights too, whose columns have several chunks.
TEST(OracleLayout, PartsLieInTheirChunks) {
  const Shape weights({Dimension::outer(2), Dimension{96, 5}, Dimension{96, 5}});
  const Shape rows({Dimension{40, 6}, Dimension::whole(32)});
  const Shape other({Dimension::outer(3), Dimension::whole(256)});
  const auto divided = [](const Shape& shape, std::size_t dimension, unsigned log_least) {
    std::vector<Dimension> dimensions = shape.dimensions();
    dimensions[dimension] = dimensions[dimension].divided(log_least, 64);
    return Shape(dimensions);
  };
  const OracleLayout whole({other, weights, rows});
  const OracleLayout parts({other, divided(weights, 1, 2), divided(rows, 0, 3)});
  EXPECT_EQ(parts.log_size(), whole.log_size());
  EXPECT_EQ(parts.used(), whole.used());
  EXPECT_EQ(parts.log_largest_chunk(), whole.log_largest_chunk());
  for (std::size_t t = 0; t < 3; ++t) {
    const Shape& shape = parts.tensors()[t];
    EXPECT_EQ(shape.is_divided(), t > 0);
    for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
      std::vector<std::size_t> coordinates;
      std::size_t first = 0;  // value of the chunk that the part begins with
      for (std::size_t d = 0; d < shape.dimensions().size(); ++d) {
        const Dimension& dimension = shape.dimensions()[d];
        const std::size_t entry = shape.coordinate(chunk, d) << dimension.log_chunk;
        const unsigned log_whole = dimension.log_chunk + dimension.log_parts;
        coordinates.push_back(entry >> log_whole);
        first = (first << log_whole) + (entry & ((std::size_t{1} << log_whole) - 1));
      }
      EXPECT_EQ(parts.offset(t, chunk), whole.offset(t, whole.tensors()[t].chunk_at(coordinates)) + first);
    }
  }
}

TEST(OracleMatrix, RefusesTensorsThatAreCutOtherwise) {
  const Shape whole({Dimension{40, 6}, Dimension::whole(32)});
  const Shape parts({Dimension{40, 6}.divided(3, 64), Dimension::whole(32)});
  const Shape short_parts({Dimension{40, 6}.divided(1, 64), Dimension::whole(32)});
  SelfCommunicator self;
  const auto encode = [&](const Shape& of_layout, const Shape& of_tensor) {
    const ChunkedTensor<std::int16_t> tensor(of_tensor, {0}, 0, 1);
    const std::vector<IntegerTensor> views{&tensor};
    return encode_oracle(OracleLayout({of_layout}), {4, 1}, views, false, self).levels.back();
  };
  EXPECT_EQ(encode(parts, parts), encode(whole, whole));
  EXPECT_THROW(encode(parts, whole), std::invalid_argument);
  EXPECT_THROW(encode(whole, parts), std::invalid_argument);
  EXPECT_THROW(encode(short_parts, short_parts), std::invalid_argument);
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
