#include <gtest/gtest.h>

#include "cluster/thread_communicator.hpp"
#include "tensor/chunked_factor.hpp"

#include "random_values.hpp"

namespace tessera::test {
namespace {

const Shape score_shape({Dimension::outer(3), Dimension::outer(2), Dimension{8, 1}, Dimension{8, 1}}, Presence::causal);

/// The factor's values in present chunks, and its extension over all tiles, absent ones too, against value(entry).
template <class Value>
void expect_values(const ChunkedFactor& factor, const Value& value, Communicator& comm,
                   const Shape& shape = score_shape) {
  const std::vector<Entry> entries = all_entries(shape);
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    if (Ownership{1}.owner(shape, chunk, comm.size()) != comm.rank()) {
      continue;
    }
    std::vector<E> values(shape.chunk_size());
    fill_chunk(factor, chunk, values);
    for (const Entry& entry : entries) {
      if (entry.present && entry.chunk == chunk) {
        EXPECT_EQ(values[entry.place], value(entry)) << chunk << " " << entry.place;
      }
    }
  }
  const Point inner = RandomElements(5).elements(shape.inner_bits());
  std::vector<E> expected(std::size_t{1} << shape.outer_bits());
  for (const Entry& entry : entries) {
    expected[entry.flat / shape.chunk_size()] += eq_index(inner, entry.place) * value(entry);
  }
  EXPECT_EQ(outer_table(factor, inner, comm), expected);
}

TEST(ChunkedFactor, causal_mask_is_one_up_to_the_query) {
  SelfCommunicator self;
  expect_values(
      CausalMask{score_shape},
      [](const Entry& entry) { return entry.index[3] <= entry.index[2] ? E::one() : E::zero(); }, self);
}

TEST(ChunkedFactor, causal_mask_after_a_past) {
  SelfCommunicator self;
  for (const std::size_t past : {1, 3, 4, 9}) {
    for (const unsigned query_bits : {0U, 1U, 3U}) {
      const Dimension query{8, query_bits};
      const Dimension key{8 + past, 1};
      const Shape shape({Dimension::outer(3), Dimension::outer(2), query, key}, Presence::causal);
      expect_values(
          CausalMask{shape, past},
          [&](const Entry& entry) { return entry.index[3] <= entry.index[2] + past ? E::one() : E::zero(); }, self,
          shape);
    }
  }
}

/// Of left a chunk has one tile of queries or several, of right a tile of keys.
struct Tiles {
  std::size_t group, rows;
  unsigned log_chunk, log_queries, log_keys;
  std::size_t past = 0;
};

TEST(ChunkedFactor, tile_product_is_the_sum_over_places) {
  for (const Tiles& tiles : std::vector<Tiles>{{1, 8, 1, 1, 1},
                                               {2, 8, 3, 1, 1},
                                               {3, 8, 2, 1, 2},
                                               {1, 12, 2, 2, 2},  // three chunks of rows
                                               {2, 12, 2, 0, 2},
                                               {2, 6, 1, 1, 2, 3}}) {
    const Dimension rows{tiles.rows, tiles.log_chunk};
    const Dimension sequence{tiles.past + tiles.rows, tiles.log_keys};
    const Shape products({Dimension::outer(3), Dimension::outer(2), Dimension::outer(tiles.group),
                          Dimension{tiles.rows, tiles.log_queries}, sequence},
                         Presence::causal);
    // places of a query in two dimensions
    const Shape queries({Dimension::outer(3), Dimension::outer(2), Dimension::outer(tiles.group), Dimension{2, 1},
                         Dimension{2, 1}, rows});
    const Shape keys({Dimension::outer(3), Dimension{8, 2}, sequence});  // two heads of four features
    for (int ranks = 1; ranks <= 3; ++ranks) {
      run_ranks(ranks, [&](Communicator& comm) {
        SelfCommunicator self;
        const auto all_left = filled<std::int16_t>(queries, {}, 1, self);
        const auto all_right = filled<std::int16_t>(keys, {}, 2, self);
        const auto left = filled<std::int16_t>(queries, {1}, 1, comm);
        const auto right = filled<std::int16_t>(keys, {1}, 2, comm);
        const auto at = [](const ChunkedTensor<std::int16_t>& tensor, std::size_t row, std::size_t m,
                           std::size_t token) {
          const Dimension& tokens = tensor.shape().dimensions().back();
          return std::int64_t{tensor.chunk(row * tokens.chunk_count() +
                                           token / tokens.chunk())[m * tokens.chunk() + token % tokens.chunk()]};
        };
        const auto product = [&](const Entry& entry) {
          if (entry.index[0] == 3 || entry.index[2] >= tiles.group || entry.index[3] >= rows.filled() ||
              entry.index[4] >= sequence.filled()) {
            return E::zero();  // padding of the blocks and groups, absent rows and keys
          }
          const std::size_t head = 2 * entry.index[0] + entry.index[1];
          std::int64_t sum = 0;
          for (std::size_t m = 0; m < 4; ++m) {
            sum += at(all_left, head * tiles.group + entry.index[2], m, entry.index[3]) *
                   at(all_right, head, m, entry.index[4]);
          }
          return E::from_signed(sum);
        };
        expect_values(TileProduct{products, &left, &right}, product, comm, products);
      });
    }
  }
}

}  // namespace
}  // namespace tessera::test
