#include <gtest/gtest.h>

#include "cluster/thread_communicator.hpp"
#include "layers/attention/score_product.hpp"

#include "../tensor/expected_factor.hpp"

namespace tessera::test {
namespace {

/// Of q a chunk has one tile of queries or several, of k a tile of keys.
struct Tiles {
  std::size_t group, rows;
  unsigned log_chunk, log_queries, log_keys;
  std::size_t past = 0;
  std::vector<std::uint32_t> windows = {};  // by block
  std::size_t heads = 2;
};

/// A at every place, absent tiles too, weighed and summed over blocks, heads and groups; blocks stay where they have
/// windows.
TEST(ScoreProduct, is_the_sum_over_heads) {
  constexpr std::size_t blocks = 3, places = 4;
  for (const Tiles& cut : std::vector<Tiles>{{1, 8, 1, 1, 1},
                                             {2, 8, 3, 1, 1},
                                             {3, 8, 2, 1, 2},
                                             {1, 12, 2, 2, 2},  // three chunks of rows
                                             {2, 12, 2, 0, 2},
                                             {2, 6, 1, 1, 2, 3},
                                             {1, 6, 1, 1, 1, 300},  // more tiles than are multiplied at once
                                             {2, 12, 2, 1, 1, 0, {2, 0, 5}},
                                             {9, 6, 1, 1, 2, 3, {4, 4, 4}},
                                             {1, 2, 1, 1, 1, 0, {2, 2, 2}, 1}}) {  // a tile a block
    const std::size_t heads = cut.heads;
    const Dimension rows{cut.rows, cut.log_chunk};
    const Dimension sequence{cut.past + cut.rows, cut.log_keys};
    const Dimension query{cut.rows, cut.log_queries};
    const Shape scores(
        {Dimension::outer(blocks), Dimension::outer(heads), Dimension::outer(cut.group), query, sequence},
        Presence::causal, cut.windows);
    const bool by_block = !cut.windows.empty();
    const Shape over = by_block ? Shape({Dimension::outer(blocks), query, sequence}, Presence::causal, cut.windows)
                                : Shape({query, sequence}, Presence::causal);
    // places of a query in two dimensions
    const Shape queries({Dimension::outer(blocks), Dimension::outer(heads), Dimension::outer(cut.group),
                         Dimension{2, 1}, Dimension{2, 1}, rows});
    const Shape keys({Dimension::outer(blocks), Dimension{heads * places, 2}, sequence});  // of a head in each chunk
    TensorPoint point;
    for (std::size_t j = 0; j < 3; ++j) {
      point.push_back(RandomElements(7 + j).elements(scores.dimensions()[j].bits()));
    }
    for (int ranks = 1; ranks <= 3; ++ranks) {
      run_ranks(ranks, [&](Communicator& comm) {
        SelfCommunicator self;
        const auto all_q = filled<std::int16_t>(queries, {}, 1, self);
        const auto all_k = filled<std::int16_t>(keys, {}, 2, self);
        const auto q = filled<std::int16_t>(queries, {1}, 1, comm);
        const auto k = filled<std::int16_t>(keys, {1}, 2, comm);
        const auto at = [](const ChunkedTensor<std::int16_t>& tensor, std::size_t row, std::size_t m,
                           std::size_t token) {
          const Dimension& tokens = tensor.shape().dimensions().back();
          return std::int64_t{tensor.chunk(row * tokens.chunk_count() +
                                           token / tokens.chunk())[m * tokens.chunk() + token % tokens.chunk()]};
        };
        const auto product = [&](const Entry& entry) {
          const std::size_t i = entry.index[entry.index.size() - 2];
          const std::size_t c = entry.index.back();
          if (i >= rows.filled() || c >= sequence.filled() || (by_block && entry.index[0] >= blocks)) {
            return E::zero();  // absent rows, keys and blocks
          }
          E sum;
          for (std::size_t head = 0; head < blocks * heads; ++head) {
            if (by_block && head / heads != entry.index[0]) {
              continue;
            }
            const E weight =
                (by_block ? E::one() : eq_index(point[0], head / heads)) * eq_index(point[1], head % heads);
            for (std::size_t j = 0; j < cut.group; ++j) {
              std::int64_t value = 0;
              for (std::size_t m = 0; m < places; ++m) {
                value += at(all_q, head * cut.group + j, m, i) * at(all_k, head, m, c);
              }
              sum += weight * eq_index(point[2], j) * E::from_signed(value);
            }
          }
          return sum;
        };
        const ScoreProduct sums(scores, {1}, q, k, over, point, comm);
        expect_values(sums.factor(), product, comm, over);
      });
    }
  }
}

}  // namespace
}  // namespace tessera::test
