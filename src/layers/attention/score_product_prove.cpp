#include "layers/attention/score_product.hpp"

#include <algorithm>
#include <functional>

#include "arithmetic/integer_product.hpp"
#include "field/dot_product.hpp"
#include "field/integer_products.hpp"
#include "layers/attention/padded_heads.hpp"

namespace tessera {
namespace {

/// Heads whose weighed tiles are added to the others' at once.
constexpr std::size_t heads_at_once = 16;
/// Keys of neighbouring tiles that are multiplied at once: a small tile would take less than the call.
constexpr std::size_t keys_at_once = 128;

/// Adds, times `weight`, a chunk (places, tokens) with the tokens of each of its tiles weighed and summed to rows of
/// places, one a tile.
void add_bound_tiles(const IntegerDots<std::int16_t>& dots, std::span<const std::int16_t> chunk, std::size_t tiles,
                     E weight, std::span<E> rows) {
  static thread_local std::vector<E> sums;  // (place, tile)
  sums.assign(rows.size(), E::zero());
  dots.add(0, chunk, sums);
  const std::size_t places = rows.size() / tiles;
  for (std::size_t place = 0; place < places; ++place) {
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      rows[tile * places + place] += weight * sums[place * tiles + tile];
    }
  }
}

}  // namespace

ScoreProduct::ScoreProduct(const Shape& scores, const Ownership& tiles, const ChunkedTensor<std::int16_t>& q,
                           const ChunkedTensor<std::int16_t>& k, Shape over, const TensorPoint& point,
                           Communicator& comm)
    : scores_(scores),
      over_(std::move(over)),
      q_(q),
      k_(k),
      tiles_(tiles),
      blocks_(by_block() ? std::vector<E>(std::size_t{1} << point[0].size(), E::one()) : eq_table(point[0])),
      heads_(eq_table(point[1])),
      groups_(eq_table(point[2])),
      values_(over_.chunk_count() * over_.chunk_size()) {
  use_single_threaded_blas();
  std::vector<std::vector<std::size_t>> summed(over_.chunk_count());  // this rank's tiles of each
  std::size_t before = scores_.chunk_count(), place = 0;              // of the chunk before
  for (const std::size_t chunk : owned_chunks(scores_, tiles, comm.rank(), comm.size())) {
    place = chunk == before + 1 && scores_.goes_on(chunk) ? place + 1 : place_in_sum(chunk);
    before = chunk;
    summed[place].push_back(chunk);
  }
  const std::vector<Range> runs = runs_of_keys(summed);
  const std::size_t size = over_.chunk_size();
#pragma omp parallel
  {
    std::vector<double> products;
    std::vector<std::int64_t> rows;
    std::vector<E> weights(heads_at_once);
    IntegerCombination<std::int64_t> combination;
#pragma omp for schedule(dynamic)
    for (std::size_t run = 0; run < runs.size(); ++run) {
      const std::vector<std::size_t>& of_heads = summed[runs[run].first];
      const std::size_t run_tiles = runs[run].size();
      products.resize(run_tiles * size);
      rows.resize(run_tiles * heads_at_once * size);
      for (std::size_t first = 0; first < of_heads.size(); first += heads_at_once) {
        const std::size_t count = std::min(heads_at_once, of_heads.size() - first);
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t chunk = of_heads[first + i];
          multiply_tiles(scores_, chunk, run_tiles, q_, k_, products);
          put_tiles(products, run_tiles, std::span(rows).subspan(i * size));
          weights[i] = blocks_[scores_.coordinate(chunk, 0)] * heads_[scores_.coordinate(chunk, 1)] *
                       groups_[scores_.coordinate(chunk, 2)];
        }
        combination.prepare(std::span<const E>(weights).first(count), size);
        for (std::size_t tile = 0; tile < run_tiles; ++tile) {
          combination.add(std::span<const std::int64_t>(rows).subspan(tile * heads_at_once * size, count * size),
                          std::span(values_).subspan((runs[run].first + tile) * size, size));
        }
      }
    }
  }
  comm.all_reduce_sum(values_);
}

std::size_t ScoreProduct::place_in_sum(std::size_t tile) const {
  std::vector<std::size_t> place{scores_.coordinate(tile, 3), scores_.coordinate(tile, 4)};
  if (by_block()) {
    place.insert(place.begin(), scores_.coordinate(tile, 0));
  }
  return over_.chunk_at(place);
}

std::vector<Range> ScoreProduct::runs_of_keys(std::span<const std::vector<std::size_t>> summed) const {
  const std::size_t most = std::max<std::size_t>(1, keys_at_once / scores_.dimensions()[4].chunk());
  const auto follows = [&](std::size_t before, std::size_t tile) {  // the same heads and queries, the next keys
    return std::ranges::equal(summed[before], summed[tile], [&](std::size_t left, std::size_t right) {
      return right == left + 1 && scores_.coordinate(right, 3) == scores_.coordinate(left, 3) &&
             scores_.coordinate(right, 4) == scores_.coordinate(left, 4) + 1;
    });
  };
  std::vector<Range> runs;
  for (std::size_t tile = 0; tile < summed.size(); ++tile) {
    if (runs.empty() || runs.back().size() == most || !follows(tile - 1, tile)) {
      runs.push_back({tile, tile});
    }
    ++runs.back().last;
  }
  return runs;
}

void ScoreProduct::put_tiles(std::span<const double> products, std::size_t tiles, std::span<std::int64_t> to) const {
  const std::size_t queries = scores_.dimensions()[3].chunk();
  const std::size_t keys = scores_.dimensions()[4].chunk();
  for (std::size_t tile = 0; tile < tiles; ++tile) {
    for (std::size_t query = 0; query < queries; ++query) {
      const double* const from = products.data() + (query * tiles + tile) * keys;
      std::int64_t* const row = to.data() + (tile * heads_at_once * queries + query) * keys;
      for (std::size_t key = 0; key < keys; ++key) {
        row[key] = static_cast<std::int64_t>(from[key]);
      }
    }
  }
}

std::vector<E> ScoreProduct::bound(std::span<const E> inner_point, Communicator& comm) const {
  const std::span<const Dimension> dimensions = scores_.dimensions();
  const Dimension& query = dimensions[3];
  const Dimension& key = dimensions[4];
  const std::vector<E> query_weights = eq_table(inner_point.first(query.log_chunk));
  const std::vector<E> key_weights = eq_table(inner_point.last(key.log_chunk));
  const IntegerDots<std::int16_t> query_dots(query_weights, query.chunk());
  const IntegerDots<std::int16_t> key_dots(key_weights, key.chunk());
  const Dimension& tokens = q_.shape().dimensions().back();
  const std::size_t heads = dimensions[1].chunk_count(), groups = dimensions[2].chunk_count();
  const std::size_t in_chunk = tokens.chunk() / query.chunk();       // tiles of queries
  const std::size_t places = k_.shape().chunk_size() / key.chunk();  // of a head
  const std::vector<std::size_t> mine = own_heads(comm);
  const std::size_t tiles = std::size_t{1} << (query.outer_bits() + key.outer_bits());
  std::vector<E> result(std::size_t{1} << over_.outer_bits());
#pragma omp parallel
  {
    std::vector<E> left, right;  // rows of places, by tile
    std::vector<E> sums(tiles);  // of some heads of one block
    std::size_t block = 0;
    const auto give = [&] {
#pragma omp critical(tessera_bound_scores)
      std::transform(sums.begin(), sums.end(), result.begin() + static_cast<std::ptrdiff_t>(block * tiles),
                     result.begin() + static_cast<std::ptrdiff_t>(block * tiles), std::plus<>());
      sums.assign(tiles, E::zero());
    };
#pragma omp for schedule(dynamic) nowait
    for (const std::size_t head : mine) {
      if (by_block() && block != head / heads) {
        give();
        block = head / heads;
      }
      left.assign(query.chunk_count() * places, E::zero());
      right.assign(key.chunk_count() * places, E::zero());
      const E weight = blocks_[head / heads] * heads_[head % heads];
      const std::size_t first = head * groups * tokens.chunk_count();
      for (std::size_t i = 0; i < groups * tokens.chunk_count(); ++i) {
        const std::size_t rows = i % tokens.chunk_count() * in_chunk * places;
        add_bound_tiles(query_dots, q_.chunk(first + i), in_chunk, weight * groups_[i / tokens.chunk_count()],
                        std::span(left).subspan(rows, in_chunk * places));
      }
      for (std::size_t i = 0; i < key.chunk_count(); ++i) {
        add_bound_tiles(key_dots, k_.chunk(head * key.chunk_count() + i), 1, E::one(),
                        std::span(right).subspan(i * places, places));
      }
      for (std::size_t i = 0; i < query.chunk_count(); ++i) {
        for (std::size_t j = 0; j < key.chunk_count(); ++j) {
          sums[(i << key.outer_bits()) + j] +=
              dot(std::span<const E>(left).subspan(i * places, places), std::span(right).subspan(j * places, places));
        }
      }
    }
    give();
  }
  comm.all_reduce_sum(std::span(result));
  return result;
}

std::vector<std::size_t> ScoreProduct::own_heads(const Communicator& comm) const {
  std::vector<std::size_t> mine;
  const std::size_t heads = scores_.dimensions()[1].chunk_count();
  for (std::size_t chunk = 0; chunk < scores_.chunk_count();) {
    const Range of_head = scores_.chunks_beside(chunk, 2);
    if (tiles_.owner(scores_, chunk, comm.size()) == comm.rank()) {
      mine.push_back(scores_.coordinate(chunk, 0) * heads + scores_.coordinate(chunk, 1));
    }
    chunk = of_head.last;
  }
  return mine;
}

TableFactor ScoreProduct::factor() const {
  return {values_, [this](std::span<const E> inner_point, Communicator& comm) { return bound(inner_point, comm); }};
}

}  // namespace tessera
