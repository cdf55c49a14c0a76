#include "layers/attention/score_product.hpp"

#include <algorithm>

#include "arithmetic/integer_product.hpp"
#include "field/dot_product.hpp"
#include "field/integer_products.hpp"
#include "layers/attention/padded_heads.hpp"
#include "tensor/contract.hpp"

namespace tessera {
namespace {

/// Heads whose weighed tiles are added to the others' at once.
constexpr std::size_t heads_at_once = 16;
/// Keys of neighbouring tiles that are multiplied at once: a small tile would take less than the call.
constexpr std::size_t keys_at_once = 128;

/// The sums over the tokens of each tile, weighed by beta of `point`, and over weighed groups, of tensors (head, group,
/// places, tokens): over (head, chunk of tokens, place, tile in the chunk). Collective.
std::vector<E> bound_tokens(const ChunkedTensor<std::int16_t>& tensor, std::size_t heads, const Axis& groups,
                            const Dimension& tile, std::span<const E> point, Communicator& comm) {
  const Dimension& tokens = tensor.shape().dimensions().back();
  const std::size_t places = tensor.shape().chunk_size() / tokens.chunk();
  const Shape split({Dimension::outer(heads),
                     Dimension::outer(tensor.shape().chunk_count() / (heads * tokens.chunk_count())),
                     Dimension::outer(tokens.chunk_count()), Dimension::whole(places),
                     Dimension::whole(tokens.chunk() / tile.chunk()), Dimension::whole(tile.chunk())});
  return contract(&tensor, split, {Axis{}, groups, Axis{}, Axis{}, Axis{}, eq_table(point)}, comm);
}

}  // namespace

ScoreProduct::ScoreProduct(const Shape& scores, const Ownership& tiles, const ChunkedTensor<std::int16_t>& q,
                           const ChunkedTensor<std::int16_t>& k, Shape over, const TensorPoint& point,
                           Communicator& comm)
    : scores_(scores),
      over_(std::move(over)),
      q_(q),
      k_(k),
      blocks_(by_block() ? std::vector<E>(std::size_t{1} << point[0].size(), E::one()) : eq_table(point[0])),
      heads_(eq_table(point[1])),
      groups_(eq_table(point[2])),
      values_(over_.chunk_count() * over_.chunk_size()) {
  use_single_threaded_blas();
  std::vector<std::vector<std::size_t>> summed(over_.chunk_count());  // this rank's tiles of each
  for (const std::size_t chunk : owned_chunks(scores_, tiles, comm.rank(), comm.size())) {
    std::vector<std::size_t> place{scores_.coordinate(chunk, 3), scores_.coordinate(chunk, 4)};
    if (by_block()) {
      place.insert(place.begin(), scores_.coordinate(chunk, 0));
    }
    summed[over_.chunk_at(place)].push_back(chunk);
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
  const std::size_t heads = dimensions[1].chunk_count();
  const std::size_t all_heads = dimensions[0].chunk_count() * heads;
  const std::vector<E> left = bound_tokens(q_, all_heads, groups_, query, inner_point.first(query.log_chunk), comm);
  const std::vector<E> right = bound_tokens(k_, all_heads, Axis{}, key, inner_point.last(key.log_chunk), comm);
  const std::size_t query_tiles = std::size_t{1} << query.outer_bits();
  const std::size_t key_tiles = std::size_t{1} << key.outer_bits();
  const Dimension& rows = q_.shape().dimensions().back();
  const std::size_t chunks = std::size_t{1} << rows.outer_bits();
  const unsigned log_in_chunk = rows.log_chunk - query.log_chunk;
  const std::size_t in_chunk = std::size_t{1} << log_in_chunk;       // tiles of queries
  const std::size_t places = k_.shape().chunk_size() / key.chunk();  // of a head
  std::vector<E> result(std::size_t{1} << over_.outer_bits());
#pragma omp parallel for schedule(static)
  for (std::size_t tile = 0; tile < query.chunk_count(); ++tile) {
    std::vector<E> row(places);
    for (std::size_t head = 0; head < all_heads; ++head) {
      const E weight = blocks_[head / heads] * heads_[head % heads];
      const std::size_t chunk = head * chunks + (tile >> log_in_chunk);
      const E* const from = left.data() + chunk * places * in_chunk + (tile & (in_chunk - 1));
      for (std::size_t x = 0; x < places; ++x) {
        row[x] = weight * from[x * in_chunk];
      }
      const std::size_t block = by_block() ? head / heads : 0;
      for (std::size_t j = 0; j < key.chunk_count(); ++j) {
        result[(block * query_tiles + tile) * key_tiles + j] +=
            dot(row, std::span(right).subspan((head * key_tiles + j) * places, places));
      }
    }
  }
  return result;
}

TableFactor ScoreProduct::factor() const {
  return {values_, [this](std::span<const E> inner_point, Communicator& comm) { return bound(inner_point, comm); }};
}

}  // namespace tessera
