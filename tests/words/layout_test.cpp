#include <gtest/gtest.h>

#include "words/oracle.hpp"

#include "../opening/opening_case.hpp"

namespace tessera::test {
namespace {

TEST(OracleLayout, largest_chunk_first_then_tensor_then_chunk) {
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

TEST(OracleLayout, chunks_are_aligned_and_disjoint) {
  for (const OracleParameters& rows :
       {OracleParameters{4, 1}, OracleParameters{7, 1}, OracleParameters{6, 1, 16}, OracleParameters{7, 1, 16},
        OracleParameters{7, 1, 48}, OracleParameters{5, 1}, OracleParameters{6, 1, 24}}) {
    for (const auto& shapes : {OpeningCase::parameter_shapes(), OpeningCase::witness_shapes()}) {
      const OracleLayout layout(shapes, rows);
      std::vector<bool> taken(rows.rows() << layout.log_columns(rows));
      std::size_t used = 0, columns = 0, most_columns = 0;
      for (std::size_t t = 0; t < shapes.size(); ++t) {
        const std::size_t size = std::max(shapes[t].chunk_size(), rows.band(0).rows());
        for (std::size_t chunk = 0; chunk < shapes[t].chunk_count(); ++chunk, used += size) {
          EXPECT_EQ(layout.offset(t, chunk) % size, 0U);
          const RowBand band = rows.band(layout.band(t, chunk));
          most_columns = std::max(most_columns, size / band.rows());
          for (std::size_t i = layout.offset(t, chunk); i < layout.offset(t, chunk) + size; ++i) {
            columns = std::max(columns, i / band.rows() + 1);
            const std::size_t cell = i / band.rows() * rows.rows() + band.first + i % band.rows();
            EXPECT_FALSE(taken.at(cell));
            taken.at(cell) = true;
          }
        }
      }
      EXPECT_EQ(layout.used(), used);
      EXPECT_EQ(layout.columns(rows), columns);
      EXPECT_EQ(std::size_t{1} << layout.log_most_columns(rows), most_columns);
    }
  }
}

/// Chunks of 4, 4, 2, 1, 1 times 128 values in 32 + 16 rows: 12 * 128 values are 32 columns.
TEST(OracleLayout, chunks_go_to_the_first_band_that_has_room) {
  const auto chunks = [](std::size_t count, std::size_t size) {
    return Shape({Dimension::outer(count), Dimension::whole(size)});
  };
  constexpr OracleParameters rows{6, 1, 16};
  const OracleLayout layout({chunks(2, 128), chunks(2, 512), chunks(1, 256)}, rows);
  const auto place = [&](std::size_t tensor, std::size_t chunk) {
    const RowBand band = rows.band(layout.band(tensor, chunk));
    return std::pair{band.first, layout.offset(tensor, chunk) / band.rows()};
  };
  using Place = std::pair<std::size_t, std::size_t>;  // row and column
  EXPECT_EQ(place(1, 0), Place(0, 0));
  EXPECT_EQ(place(1, 1), Place(0, 16));
  EXPECT_EQ(place(2, 0), Place(32, 0));
  EXPECT_EQ(place(0, 0), Place(32, 16));
  EXPECT_EQ(place(0, 1), Place(32, 24));
  EXPECT_EQ(layout.columns(rows), 32U);
  // one more: 13 * 128 / 48 columns are 35, which no band has
  const OracleLayout more({chunks(3, 128), chunks(2, 512), chunks(1, 256)}, rows);
  EXPECT_EQ(rows.band(more.band(0, 2)).first, 0U);
  EXPECT_EQ(more.offset(0, 2) / 32, 32U);
  EXPECT_EQ(more.columns(rows), 36U);
}

TEST(OracleLayout, few_rows_for_as_many_columns) {
  constexpr OracleParameters all{6, 1};
  const auto rows_of = [&](std::size_t chunks) {
    const PackedOracle packed = pack_oracle({Shape({Dimension::outer(chunks), Dimension::whole(512)})}, all);
    const OracleLayout flat(packed.layout.tensors());
    EXPECT_EQ(packed.layout.log_domain(packed.parameters), flat.log_domain(all)) << chunks;
    EXPECT_LE(packed.layout.columns(packed.parameters), std::size_t{1} << flat.log_columns(all)) << chunks;
    return packed.parameters.rows();
  };
  EXPECT_EQ(rows_of(256), 64U);
  for (const std::size_t chunks : {257U, 300U, 320U}) {
    EXPECT_EQ(rows_of(chunks), 40U) << chunks;
  }
  EXPECT_EQ(rows_of(321), 48U);
  EXPECT_EQ(rows_of(384), 48U);
  EXPECT_EQ(rows_of(385), 56U);
  EXPECT_EQ(rows_of(449), 64U);
  EXPECT_EQ(pack_oracle({Shape({Dimension::outer(257), Dimension::whole(512)})}, {5, 1}).parameters.rows(), 24U);
  EXPECT_EQ(pack_oracle({Shape({Dimension::outer(257), Dimension::whole(512)})}, {7, 1}).parameters.rows(), 72U);
}

/// Tiles of 8 x 8 scores are two columns of 32 rows; a value is a column of the largest band.
TEST(OracleLayout, chunks_are_padded_to_a_column_of_the_largest_band) {
  const std::vector<Shape> shapes{Shape({Dimension::outer(3), Dimension::whole(64)}), Shape({Dimension::whole(1)})};
  EXPECT_EQ(OracleLayout(shapes, OracleParameters{5, 1}).used(), 3U * 64 + 32);
  EXPECT_EQ(OracleLayout(shapes, OracleParameters{6, 1, 24}).used(), 3U * 64 + 32);
  EXPECT_EQ(OracleLayout(shapes, OracleParameters{6, 1}).used(), 3U * 64 + 64);
  EXPECT_EQ(OracleLayout(shapes, OracleParameters{7, 1}).used(), 4U * 128);
  EXPECT_EQ(OracleLayout(shapes).used(), 4U * 128);
  const OracleLayout layout(shapes, OracleParameters{5, 1});
  EXPECT_EQ(layout.offset(0, 2), 2U * 64);
  EXPECT_EQ(layout.offset(1, 0), 3U * 64);
  EXPECT_EQ(layout.log_padded_chunk(0), 6U);
  EXPECT_EQ(layout.log_padded_chunk(1), 5U);
  EXPECT_THROW((void)layout.columns({6, 1}), std::invalid_argument);
}

TEST(OracleLayout, refuses_rows_that_it_was_not_packed_for) {
  const std::vector<Shape> shapes{Shape({Dimension::whole(512)})};
  constexpr OracleParameters rows{6, 1, 16};
  EXPECT_THROW((void)OracleLayout(shapes).columns(rows), std::invalid_argument);
  EXPECT_THROW((void)OracleLayout(shapes, rows).columns({6, 1}), std::invalid_argument);
  EXPECT_THROW((void)OracleLayout(shapes, rows).log_domain({7, 1, 16}), std::invalid_argument);
}

/// Of weights too, whose columns have several chunks.
TEST(OracleLayout, parts_lie_in_their_chunks) {
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
  EXPECT_EQ(parts.log_most_columns({4, 1}), whole.log_most_columns({4, 1}));
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

TEST(OracleMatrix, refuses_tensors_that_are_cut_otherwise) {
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
TEST(Codeword, columns_are_row_polynomials_at_the_powers_of_omega) {
  SelfCommunicator self;
  const OpeningCase data(self);
  for (std::size_t j = 0; j < 2; ++j) {
    const CommittedOracle& oracle = data.oracles[j];
    const unsigned log_rows = oracle.parameters.log_rows;
    const std::size_t rows = oracle.parameters.rows();
    const std::vector<F> cells = OpeningCase::matrix(oracle.layout, oracle.parameters, data.witnesses[j].tensors);
    const unsigned log_domain = oracle.layout.log_domain(oracle.parameters);
    const std::vector<std::size_t> positions{0, 1, 77, (std::size_t{1} << log_domain) - 1};
    const std::vector<F> columns = data.stores[j]->columns(positions);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const F x = F::root_of_unity(log_domain).power(positions[i]);
      for (std::size_t row = 0; row < rows; ++row) {
        F sum;
        for (std::size_t hi = cells.size() >> log_rows; hi-- > 0;) {
          sum = sum * x + cells[(hi << log_rows) + row];
        }
        ASSERT_EQ(columns[i * rows + row], sum);
      }
      const std::vector<Digest> leaf = data.stores[j]->nodes(0, std::span(positions).subspan(i, 1));
      EXPECT_EQ(leaf[0], hash_leaf(std::span(columns).subspan(i * rows, rows)));
    }
  }
}

}  // namespace
}  // namespace tessera::test
