#include <algorithm>
#include <array>

#include "arithmetic/query_products.hpp"
#include "arithmetic/score_kernels.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/inference.hpp"

namespace tessera {
namespace {

constexpr std::size_t max_tile = 128;
/// Products of a query and a key, or a weight and a value, below which other threads are not woken: 20 microseconds.
constexpr std::size_t parallel_steps = std::size_t{1} << 14;
/// Queries of a tile that are not worth copies of all keys.
constexpr std::size_t few_rows = 3;

void widen_rows(const std::int16_t* from, std::size_t stride, std::size_t rows, std::size_t columns,
                std::vector<double>& to) {
  to.resize(rows * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      to[row * columns + column] = from[row * stride + column];
    }
  }
}

/// One thread's intermediate values of a query tile. All matrices row-major.
struct Buffers {
  std::vector<std::int16_t> queries;  // (rows, places)
  std::vector<std::int16_t> keys;     // (places, keys)
  RawVector<std::int64_t> products;   // A (rows, stride), of each row the first ones
  std::size_t stride = 0;
  std::vector<double> values, weights;    // v (places, keys), e (rows, keys)
  std::vector<double> partial;            // (places, rows)
  std::vector<std::int32_t> score;        // z mod 2^32 of one row
  std::vector<std::int32_t> capped;       // z' of it
  std::vector<std::uint16_t> remainder;   // of z
  std::vector<std::int32_t> exponential;  // e (rows, keys), 0 above the diagonal
  std::vector<std::int64_t> sum;          // D (rows)
  std::vector<std::int64_t> value_sum;    // O (places, rows)
};

/// Some consecutive queries of one query head, all in one tile, against all keys up to the last of them. `outer`: the
/// query head's number in all blocks, which is that of its chunks of rows and y.
struct QueryTile {
  std::size_t block, head, outer, first, rows, past;
  [[nodiscard]] std::size_t keys() const { return past + first + rows; }
};

/// Attention of one batch against the cache: what the steps of a tile share.
struct TileStep {
  const InferenceContext& context;
  const AttentionPlan& plan;
  const ScoreTables& tables;
  const QkvCache& cache;
  const Batch& batch;

  [[nodiscard]] Trace& trace() const { return *context.trace; }
  /// The keys or values that the tile's head shares with its group.
  [[nodiscard]] const std::int16_t* keys_of(const QueryTile& tile, const std::vector<std::int16_t>& all) const {
    const std::size_t row = tile.head / plan.heads.group * plan.heads.size;
    return all.data() + cache.block_offset(tile.block) + (row - cache.rows.first) * cache.capacity;
  }
  /// Values of `tensor` at a place of the tile's query head.
  template <class T>
  [[nodiscard]] TokenRow<T> row_of(const QueryTile& tile, const Recorded<T>& tensor, std::size_t place = 0) const {
    return token_row(trace()[tensor], tile.outer, place);
  }
  void score_products(const QueryTile& tile, Buffers& buffers) const;
  /// Number of the score of a tile's row and key 0.
  [[nodiscard]] std::uint64_t place_of(const QueryTile& tile, std::size_t row) const {
    const std::vector<Dimension>& dimensions = plan.scores.dimensions();
    return (tile.outer * dimensions[3].length + tile.first + row) * dimensions[4].length;
  }
  void softmax_row(const QueryTile& tile, std::size_t row, Buffers& buffers) const;
  [[nodiscard]] Extent cap_row(const QueryTile& tile, std::size_t row, const Extent& scores, Buffers& buffers) const;
  [[nodiscard]] std::int64_t distant_keys(const QueryTile& tile, std::size_t row, std::int64_t maximum,
                                          const Buffers& buffers, std::span<std::int32_t> exponential) const;
  void record_scores(const QueryTile& tile, std::size_t row, const Buffers& buffers) const;
  void value_products(const QueryTile& tile, Buffers& buffers) const;
  void normalize(const QueryTile& tile, const Buffers& buffers, Range tokens, std::int16_t* y) const;
};

/// A = q^T k, exactly.
void TileStep::score_products(const QueryTile& tile, Buffers& buffers) const {
  const std::size_t m = plan.heads.size;
  const std::int16_t* q =
      cache.q.data() + (tile.head * m - cache.queries.first) * batch.size + (tile.first - batch.first);
  const std::int16_t* k = keys_of(tile, cache.k);
  const std::size_t keys = tile.keys();
  if (tile.rows <= few_rows) {
    buffers.stride = keys;
    buffers.products.resize(tile.rows * keys);
    for (std::size_t row = 0; row < tile.rows; ++row) {
      weigh_rows(q + row, batch.size, {k, cache.capacity}, m, keys, buffers.products.data() + row * keys);
    }
    return;
  }
  buffers.queries.resize(tile.rows * m);
  buffers.keys.resize(m * keys);
  for (std::size_t place = 0; place < m; ++place) {
    for (std::size_t row = 0; row < tile.rows; ++row) {
      buffers.queries[row * m + place] = q[place * batch.size + row];
    }
    std::copy_n(k + place * cache.capacity, keys, buffers.keys.data() + place * keys);
  }
  const Digits digits(std::span<const std::int16_t>(buffers.keys), m, keys);
  buffers.stride = digits.padded_columns();
  buffers.products.resize(tile.rows * buffers.stride);
  multiply_digits(buffers.queries.data(), tile.rows, digits, buffers.products);
}

/// z of one query, whose smallest and largest are `scores`, in 16 bits, and z'. Returns the smallest and largest z'.
Extent TileStep::cap_row(const QueryTile& tile, std::size_t row, const Extent& scores, Buffers& buffers) const {
  const std::size_t begin = plan.scores.first_key(tile.block, tile.first + row);
  const std::int64_t* products = buffers.products.data() + row * buffers.stride;
  const std::span<std::int32_t> seen = std::span(buffers.score).subspan(begin);
  const Bounds bounds = Bounds::signed_bits(cap_table_log_size);
  settle(context,
         {plan.capped->clamp, "attention score before its cap", bounds, PlaceOfRow(place_of(tile, row) + begin)},
         scores, seen, [&](std::size_t i) { return rshift(products[begin + i], plan.score_shift).quotient; });
  buffers.capped.resize(buffers.score.size());
  Extent capped{INT64_MAX, INT64_MIN};
  for (std::size_t key = begin; key < buffers.score.size(); ++key) {
    // a value out of range, which the guard knows of, finds some row
    buffers.capped[key] = capped_score(tables.cap, static_cast<std::int16_t>(buffers.score[key]));
    capped.include(buffers.capped[key]);
  }
  return capped;
}

/// z, M, e and D of one query; keys above the diagonal and before a window take no part.
void TileStep::softmax_row(const QueryTile& tile, std::size_t row, Buffers& buffers) const {
  const std::size_t position = tile.first + row;
  const std::size_t keys = tile.past + position + 1;
  const std::size_t begin = plan.scores.first_key(tile.block, position);
  const std::int64_t* products = buffers.products.data() + row * buffers.stride;
  std::int32_t* exponential = buffers.exponential.data() + row * tile.keys();
  buffers.score.resize(keys);
  buffers.remainder.resize(keys);
  Extent taken = round_scores(products + begin, keys - begin, plan.score_shift, buffers.score.data() + begin,
                              context.recording() ? buffers.remainder.data() + begin : nullptr);
  if (plan.capped) {
    taken = cap_row(tile, row, taken, buffers);
  }
  const std::int64_t maximum = taken.high;
  const std::vector<std::int32_t>& scores = plan.capped ? buffers.capped : buffers.score;
  std::fill_n(exponential, begin, 0);
  std::fill(exponential + keys, exponential + tile.keys(), 0);
  std::int64_t total = 0;
  if (static_cast<std::size_t>(maximum - taken.low) < tables.exponential.size()) {
    for (std::size_t key = begin; key < keys; ++key) {
      exponential[key] = tables.exponential[static_cast<std::size_t>(score_distance(maximum, scores[key]))];
      total += exponential[key];
    }
  } else {
    total = distant_keys(tile, row, maximum, buffers, {exponential, keys});
  }
  buffers.sum[row] = total;
  // only a continuation's filler behind the context's end can have more keys than the count has room for
  context.guard.check("soft-max maxima - 1", (total & ((std::int64_t{1} << plan.kappa) - 1)) - 1,
                      Bounds::unsigned_bits(plan.kappa - 1));
  if (context.recording()) {
    row_of(tile, plan.row_max)[position] = maximum;
    row_of(tile, plan.row_sum)[position] = total;
    if (context.comm.size() == 1) {  // else record_tiles()
      record_scores(tile, row, buffers);
    }
  }
}

/// e of a row with distances beyond the rows of the table that the key has; returns D. Those beyond the whole table are
/// listed.
std::int64_t TileStep::distant_keys(const QueryTile& tile, std::size_t row, std::int64_t maximum,
                                    const Buffers& buffers, std::span<std::int32_t> exponential) const {
  constexpr std::int64_t last = (std::int64_t{1} << exp_table_log_size) - 1;
  const std::int64_t* products = buffers.products.data() + row * buffers.stride;
  const std::span<const std::int32_t> table = tables.exponential;
  const std::uint64_t place = place_of(tile, row);
  std::int64_t total = 0;
  for (std::size_t key = plan.scores.first_key(tile.block, tile.first + row); key < exponential.size(); ++key) {
    const std::int64_t z = plan.capped ? buffers.capped[key] : rshift(products[key], plan.score_shift).quotient;
    const std::int64_t distance = maximum - z;
    exponential[key] =
        static_cast<std::size_t>(distance) < table.size() ? table[static_cast<std::size_t>(distance)] : 0;
    total += exponential[key];
    if (distance > last && context.exceptions != nullptr) {
      context.exceptions->add(plan.exponential.clamp, {place + key, distance - last});
    } else {
      context.guard.check("attention score, distance from the largest", distance, {0, last});
    }
  }
  return total;
}

void TileStep::record_scores(const QueryTile& tile, std::size_t row, const Buffers& buffers) const {
  const Shape& shape = plan.scores;
  const std::size_t queries = shape.dimensions()[3].chunk();
  const std::size_t side = shape.dimensions()[4].chunk();
  const std::size_t head = tile.head / plan.heads.group;
  const std::size_t member = tile.head % plan.heads.group;
  const std::size_t position = tile.first + row;
  const std::size_t keys = tile.past + position + 1;
  const std::int32_t* exponential = buffers.exponential.data() + row * tile.keys();
  std::size_t key = plan.scores.first_key(tile.block, position);
  // tiles beside each other are chunks one after the other
  std::size_t chunk = shape.chunk_at(std::array{tile.block, head, member, position / queries, key / side});
  for (; key < keys; ++chunk) {
    const std::size_t count = std::min(side - key % side, keys - key);
    const std::size_t at = (position % queries) * side + key % side;
    std::copy_n(buffers.score.data() + key, count, trace()[plan.score].chunk(chunk).data() + at);
    std::copy_n(buffers.remainder.data() + key, count, trace()[plan.score_remainder].chunk(chunk).data() + at);
    if (plan.capped) {
      std::copy_n(buffers.capped.data() + key, count, trace()[*plan.capped].chunk(chunk).data() + at);
    }
    std::copy_n(exponential + key, count, trace()[plan.exponential].chunk(chunk).data() + at);
    key += count;
  }
}

/// O = v e^T.
void TileStep::value_products(const QueryTile& tile, Buffers& buffers) const {
  const std::size_t m = plan.heads.size;
  const std::size_t keys = tile.keys();
  const std::int16_t* v = keys_of(tile, cache.v);
  buffers.value_sum.assign(m * tile.rows, 0);
  // partial sums are at most 2^15*keys*e(0); beyond 2^53 take e in two halves of at most 2^15 each
  const std::int64_t largest = (std::int64_t{tables.exponential[0]} << 15) * static_cast<std::int64_t>(keys);
  const bool split = largest > (std::int64_t{1} << 53);
  const int half = split ? 14 : 0;
  const bool few = tile.rows <= few_rows;
  if (!few) {
    widen_rows(v, cache.capacity, m, keys, buffers.values);
  }
  buffers.partial.resize(m * tile.rows);
  buffers.weights.resize(tile.rows * keys);
  for (int part = split ? 1 : 0; part >= 0; --part) {
    const std::int32_t mask = split && part == 0 ? (1 << half) - 1 : INT32_MAX;
    for (std::size_t i = 0; i < buffers.exponential.size(); ++i) {
      buffers.weights[i] = static_cast<double>((buffers.exponential[i] >> (part * half)) & mask);
    }
    if (few) {
      for (std::size_t row = 0; row < tile.rows; ++row) {
        multiply_rows({v, cache.capacity}, m, buffers.weights.data() + row * keys, keys, buffers.partial.data() + row,
                      tile.rows);
      }
    } else {
      multiply_real(Transpose::right, m, tile.rows, keys, {buffers.values.data(), keys}, {buffers.weights.data(), keys},
                    buffers.partial);
    }
    for (std::size_t i = 0; i < buffers.value_sum.size(); ++i) {
      buffers.value_sum[i] += static_cast<std::int64_t>(buffers.partial[i]) * (std::int64_t{1} << (part * half));
    }
  }
}

/// R = floor(2^46/D) and y = rshift(O*R, 46), |O*R| <= 2^61; `y` is the head's part (m, `tokens` of the batch).
void TileStep::normalize(const QueryTile& tile, const Buffers& buffers, Range tokens, std::int16_t* y) const {
  constexpr std::int64_t one = std::int64_t{1} << softmax_shift;
  const Bounds inverse_bounds = Bounds::unsigned_bits(softmax_shift - plan.kappa - 15);
  std::vector<std::int64_t> inverse(tile.rows);
  for (std::size_t row = 0; row < tile.rows; ++row) {
    inverse[row] = one / buffers.sum[row];
    context.guard.check("soft-max inverse", inverse[row], inverse_bounds);
    if (context.recording()) {
      row_of(tile, plan.row_inverse)[tile.first + row] = static_cast<std::int32_t>(inverse[row]);
    }
  }
  const std::span<std::int64_t> remainders = row_buffer<std::int64_t>(tile.rows);
  for (std::size_t i = 0; i < plan.heads.size; ++i) {
    const std::span<const std::int64_t> totals = std::span(buffers.value_sum).subspan(i * tile.rows, tile.rows);
    std::int16_t* const results = y + i * tokens.size() + (tile.first - batch.first - tokens.first);
    for (std::size_t row = 0; row < tile.rows; ++row) {
      const std::int64_t sum = totals[row] * inverse[row] + one / 2;
      const std::int64_t result = sum >> softmax_shift;
      context.guard.check("attention y", result, Bounds::signed_bits(16));
      results[row] = static_cast<std::int16_t>(result);
      remainders[row] = sum & (one - 1);
    }
    if (context.recording()) {
      row_of(tile, plan.value_sum, i).write(tile.first, totals);
      row_of<std::int16_t>(tile, plan.y, i).write(tile.first, std::span(results, tile.rows));
      row_of<std::int64_t>(tile, plan.y_remainder, i).write(tile.first, remainders);
    }
  }
}

/// y of all heads (features, batch.size) from what each member of their teams has, (features of the head, its tokens).
std::vector<std::int16_t> gather_shared_heads(const InferenceContext& context, const AttentionPlan& attention,
                                              const Batch& batch, std::vector<std::int16_t> mine) {
  const int ranks = context.comm.size();
  const std::size_t rows = attention.heads.group * attention.heads.size;
  const auto tokens_of = [&](const Team& team) { return team.share({0, batch.size}, team.number); };
  const auto team = [&](int rank) { return team_of(attention.heads.heads, rank, ranks); };
  const std::vector<std::int16_t> all =
      context.gather_parts([&](int rank) { return rows * tokens_of(team(rank)).size(); }, std::move(mine));
  std::vector<std::int16_t> y(all.size());
  auto from = all.begin();
  for (int rank = 0; rank < ranks; ++rank) {
    const Team of_rank = team(rank);
    const Range tokens = tokens_of(of_rank);
    for (std::size_t row = 0; row < rows; ++row, from += static_cast<std::ptrdiff_t>(tokens.size())) {
      std::copy_n(from, tokens.size(),
                  y.begin() + static_cast<std::ptrdiff_t>((of_rank.part * rows + row) * batch.size + tokens.first));
    }
  }
  return y;
}

}  // namespace

std::vector<std::int16_t> infer(const InferenceContext& context, const AttentionPlan& attention,
                                const ScoreTables& tables, const QkvCache& cache, std::size_t block,
                                const Batch& batch) {
  const std::size_t group = attention.heads.group;
  const Dimension all_heads = Dimension::outer(attention.heads.heads);
  const Team& team = cache.team;
  const Range owned = team.size > 1 ? Range{team.part, team.part + 1} : context.owned(all_heads);
  const Range heads{owned.first * group, owned.last * group};  // of queries
  const Range tokens = cache.tokens(batch);
  std::vector<QueryTile> tiles;
  for (std::size_t head = heads.first; head < heads.last; ++head) {
    const std::size_t end = batch.first + tokens.last;
    for (std::size_t first = batch.first + tokens.first; first < end;) {
      const std::size_t next = std::min(end, (first / max_tile + 1) * max_tile);
      tiles.push_back({block, head, block * attention.heads.query_heads() + head, first, next - first, attention.past});
      first = next;
    }
  }
  const std::size_t m = attention.heads.size;
  std::vector<std::int16_t> y(heads.size() * m * tokens.size());
  const std::size_t steps = heads.size() * m * tokens.size() * (attention.past + batch.first + tokens.last);
  const TileStep step{context, attention, tables, cache, batch};
#pragma omp parallel if (steps > parallel_steps)
  {
    Buffers buffers;
#pragma omp for schedule(dynamic)
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const QueryTile& tile = tiles[i];
      step.score_products(tile, buffers);
      buffers.exponential.resize(tile.rows * tile.keys());
      buffers.sum.resize(tile.rows);
      for (std::size_t row = 0; row < tile.rows; ++row) {
        step.softmax_row(tile, row, buffers);
      }
      step.value_products(tile, buffers);
      step.normalize(tile, buffers, tokens, y.data() + (tile.head - heads.first) * m * tokens.size());
    }
  }
  if (!batch.shared) {
    return context.gather(all_heads, group * m * batch.size, std::move(y));
  }
  return gather_shared_heads(context, attention, batch, std::move(y));
}

}  // namespace tessera
