#include "layers/attention/score_product.hpp"

#include <algorithm>

#include "arithmetic/integer_product.hpp"
#include "field/dot_product.hpp"
#include "field/integer_products.hpp"
#include "layers/attention/padded_heads.hpp"
#include "tensor/contract.hpp"

namespace tessera {
namespace {

/// Tiles whose weighed sum is added to the others' at once.
constexpr std::size_t tiles_at_once = 16;

/// The sums over inner places of the last dimension, of tiles in chunks of tokens: over (indices before x.., chunk, x,
/// tile in the chunk).
std::vector<E> bound_tokens(const ChunkedTensor<std::int16_t>& tensor, std::span<const Dimension> before,
                            const Dimension& tile, std::span<const E> point, std::vector<Axis> axes,
                            Communicator& comm) {
  const Dimension& tokens = tensor.shape().dimensions().back();
  std::vector<Dimension> split(before.begin(), before.end());
  split.push_back(Dimension::outer(tokens.chunk_count()));
  for (const std::size_t length :
       {tensor.shape().chunk_size() / tokens.chunk(), tokens.chunk() / tile.chunk(), tile.chunk()}) {
    split.push_back(Dimension::whole(length));
  }
  axes.resize(split.size());
  axes.back() = eq_table(point);
  return contract(&tensor, Shape(std::move(split)), axes, comm);
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
  const std::size_t size = over_.chunk_size();
#pragma omp parallel
  {
    std::vector<double> products(size);
    std::vector<std::int64_t> rows(tiles_at_once * size);
    std::vector<E> weights(tiles_at_once);
#pragma omp for schedule(dynamic)
    for (std::size_t tile = 0; tile < summed.size(); ++tile) {
      const std::span<E> sums = std::span(values_).subspan(tile * size, size);
      for (std::size_t first = 0; first < summed[tile].size(); first += tiles_at_once) {
        const std::size_t count = std::min(tiles_at_once, summed[tile].size() - first);
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t chunk = summed[tile][first + i];
          multiply_tile(scores_, chunk, q_, k_, products);
          std::ranges::transform(products, rows.begin() + static_cast<std::ptrdiff_t>(i * size),
                                 [](double product) { return static_cast<std::int64_t>(product); });
          weights[i] = blocks_[scores_.coordinate(chunk, 0)] * heads_[scores_.coordinate(chunk, 1)] *
                       groups_[scores_.coordinate(chunk, 2)];
        }
        combine_integer_rows(std::span<const E>(weights).first(count),
                             std::span<const std::int64_t>(rows).first(count * size), sums);
      }
    }
  }
  comm.all_reduce_sum(values_);
}

std::vector<E> ScoreProduct::bound(std::span<const E> inner_point, Communicator& comm) const {
  const std::span<const Dimension> dimensions = scores_.dimensions();
  const Dimension& query = dimensions[3];
  const Dimension& key = dimensions[4];
  const std::vector<E> left =
      bound_tokens(q_, dimensions.first(3), query, inner_point.first(query.log_chunk), {Axis{}, Axis{}, groups_}, comm);
  const std::vector<E> right =
      bound_tokens(k_, dimensions.first(2), key, inner_point.last(key.log_chunk), {Axis{}, Axis{}}, comm);
  const std::size_t query_tiles = std::size_t{1} << query.outer_bits();
  const std::size_t key_tiles = std::size_t{1} << key.outer_bits();
  const unsigned log_in_chunk = q_.shape().dimensions().back().log_chunk - query.log_chunk;
  const std::size_t in_chunk = std::size_t{1} << log_in_chunk;  // tiles of queries
  const std::size_t chunks = std::size_t{1} << q_.shape().dimensions().back().outer_bits();
  const std::size_t heads = blocks_.size() * heads_.size();
  const std::size_t places = right.size() / (heads * key_tiles);
  std::vector<E> result(std::size_t{1} << over_.outer_bits());
#pragma omp parallel for schedule(static)
  for (std::size_t tile = 0; tile < query.chunk_count(); ++tile) {
    std::vector<E> row(places);
    for (std::size_t head = 0; head < heads; ++head) {
      const E weight = blocks_[head / heads_.size()] * heads_[head % heads_.size()];
      const E* const from =
          left.data() + (head * chunks + (tile >> log_in_chunk)) * places * in_chunk + (tile & (in_chunk - 1));
      for (std::size_t x = 0; x < places; ++x) {
        row[x] = weight * from[x * in_chunk];
      }
      const std::size_t block = by_block() ? head / heads_.size() : 0;
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
