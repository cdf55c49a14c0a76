#include <algorithm>

#include "layers/attention/padded_heads.hpp"
#include "plan/trace.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {
namespace {

/// What a rank needs of other tensors for its tiles.
struct TileInputs {
  const AttentionPlan& plan;
  const ScoreTables& tables;
  const ChunkedTensor<std::int16_t>& q;
  const ChunkedTensor<std::int16_t>& k;
  const ChunkedTensor<std::int64_t>& maxima;
};

/// Where a tile's values go.
struct Tile {
  std::size_t chunk;
  std::span<std::int32_t> score;
  std::span<std::int32_t> capped;  // none without a cap
  std::span<std::uint16_t> remainder;
  std::span<std::int32_t> exponential;
};

void fill(const TileInputs& inputs, const Tile& tile) {
  const AttentionPlan& plan = inputs.plan;
  const std::vector<Dimension>& dimensions = plan.scores.dimensions();
  const auto coordinate = [&](std::size_t dimension) { return plan.scores.coordinate(tile.chunk, dimension); };
  const std::size_t side = dimensions[4].chunk();
  const Range queries{coordinate(3) * dimensions[3].chunk(),
                      std::min((coordinate(3) + 1) * dimensions[3].chunk(), dimensions[3].length)};
  const Range keys{coordinate(4) * side, std::min((coordinate(4) + 1) * side, plan.past + queries.last)};
  if (keys.first >= keys.last) {
    return;
  }
  const std::size_t head = coordinate(0) * dimensions[1].chunk_count() + coordinate(1);
  const std::size_t query_head = head * dimensions[2].chunk_count() + coordinate(2);
  const Dimension& rows = plan.rows.dimensions().back();
  const std::size_t pass = queries.first >> rows.log_chunk;  // of which the tile is a part
  const std::size_t first = pass << rows.log_chunk;
  std::vector<double> products(plan.scores.chunk_size());
  multiply_tiles(plan.scores, tile.chunk, 1, inputs.q, inputs.k, products);
  const auto maxima = inputs.maxima.chunk(query_head * rows.chunk_count() + pass);
  for (std::size_t query = queries.first; query < queries.last; ++query) {
    const std::size_t at = (query - queries.first) * side;
    const double* row = products.data() + at;
    const std::size_t last = std::min(keys.last, plan.past + query + 1);
    const std::size_t begin = plan.scores.first_key(coordinate(0), query);
    for (std::size_t i = std::max(begin, keys.first) - keys.first; keys.first + i < last; ++i) {
      const Rounded z = rshift(static_cast<std::int64_t>(row[i]), plan.score_shift);
      std::int64_t taken = z.quotient;
      tile.score[at + i] = static_cast<std::int32_t>(z.quotient);
      if (!tile.capped.empty()) {
        tile.score[at + i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(z.quotient, INT16_MIN, INT16_MAX));
        taken = tile.capped[at + i] = capped_score(inputs.tables.cap, tile.score[at + i]);
      }
      tile.remainder[at + i] = static_cast<std::uint16_t>(z.remainder);
      const auto distance = static_cast<std::size_t>(maxima[query - first] - taken);
      const std::span<const std::int32_t> exponentials = inputs.tables.exponential;
      tile.exponential[at + i] = distance < exponentials.size() ? exponentials[distance] : 0;
    }
  }
}

}  // namespace

void record_tiles(const AttentionPlan& attention, const ScoreTables& tables, Trace& trace, Communicator& comm) {
  if (comm.size() == 1) {
    return;
  }
  ChunkedTensor<std::int32_t>& score = trace[attention.score];
  ChunkedTensor<std::uint16_t>& remainder = trace[attention.score_remainder];
  ChunkedTensor<std::int32_t>& exponential = trace[attention.exponential];
  const PaddedHeads heads(attention, trace[attention.q], trace[attention.k], score, comm);
  const ChunkedTensor<std::int64_t> maxima = at_tiles(trace[attention.row_max], score, comm);
  const TileInputs inputs{attention, tables, heads.q(), heads.k(), maxima};
#pragma omp parallel for schedule(dynamic)
  for (const std::size_t chunk : score.held()) {
    const std::span<std::int32_t> capped =
        attention.capped ? trace[*attention.capped].chunk(chunk) : std::span<std::int32_t>();
    fill(inputs, {chunk, score.chunk(chunk), capped, remainder.chunk(chunk), exponential.chunk(chunk)});
  }
}

}  // namespace tessera
