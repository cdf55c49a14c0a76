#include <algorithm>
#include <cassert>
#include <map>

#include "tensor/chunked_factor.hpp"
#include "field/scale_kernels.hpp"

namespace tessera {
namespace {

/// values[inner indices of dimensions from `first` on] = table[base + sum_j index_j * table_stride[j]].
void spread(const std::vector<E>& table, const Shape& shape, const std::vector<std::size_t>& table_stride,
            std::size_t first, std::size_t base, std::span<E> values) {
  const auto rest = table_stride.begin() + static_cast<std::ptrdiff_t>(first);
  if (std::all_of(rest, table_stride.end(), [](std::size_t stride) { return stride == 0; })) {
    std::ranges::fill(values, table[base]);
    return;
  }
  if (first + 1 == table_stride.size()) {  // the last dimension, kept: stride 1
    std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(base), values.size(), values.begin());
    return;
  }
  const std::size_t count = shape.dimensions()[first].chunk();
  const std::size_t size = values.size() / count;
  for (std::size_t i = 0; i < count; ++i) {
    spread(table, shape, table_stride, first + 1, base + i * table_stride[first], values.subspan(i * size, size));
  }
}

/// out[x] += scale * prod_j table_j[x_j] over all inner indices x of a chunk, tables already cut to the chunk.
void add_product(std::span<const std::span<const E>> tables, E scale, std::span<E> out) {
  thread_local std::vector<E> left, longer;  // keep their memory: chunks are many and may be small
  left.assign(1, scale);
  for (const std::span<const E> table : tables.first(tables.size() - 1)) {
    if (table.size() == 1) {
      for (E& value : left) {
        value *= table.front();
      }
      continue;
    }
    longer.assign(left.size() * table.size(), E::zero());
    add_outer_product(left, table, longer.data());
    std::swap(left, longer);
  }
  add_outer_product(left, tables.back(), out.data());
}

void fill(const TensorFactor& factor, std::size_t chunk, std::span<E> values) {
  std::visit(
      [&](const auto* integers) {
        const auto source = integers->chunk(chunk);
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] = E::from_signed(source[i]);
        }
      },
      factor.tensor);
}

/// How many of the first `end` rows lie in a chunk of them.
std::size_t rows_in_chunk(const Dimension& rows, std::size_t chunk, std::size_t end) {
  const std::size_t first = chunk << rows.log_chunk;
  return std::min(end - std::min(end, first), rows.chunk());
}

void fill(const WeightFactor& factor, std::size_t chunk, std::span<E> values) {
  std::ranges::fill(values, E::zero());
  std::vector<std::span<const E>> slices;
  for (const WeightFactor::Term& term : factor.terms) {
    slices.clear();
    for (std::size_t j = 0; j < term.tables.size(); ++j) {
      const Dimension& dimension = factor.shape.dimensions()[j];
      slices.push_back(std::span<const E>(term.tables[j])
                           .subspan(factor.shape.coordinate(chunk, j) << dimension.log_chunk, dimension.chunk()));
    }
    add_product(slices, term.scale, values);
  }
  for (const Beginnings& matrix : factor.beginnings) {
    const Dimension& rows = factor.shape.dimensions()[0];
    const std::size_t g = factor.shape.coordinate(chunk, 1);  // one a chunk
    const std::size_t end = rows_in_chunk(rows, factor.shape.coordinate(chunk, 0), matrix.ends[g]);
    for (std::size_t i = 0; i < end; ++i) {
      values[i] += matrix.scales[g];
    }
  }
  if (const auto found = factor.placed.find(chunk); found != factor.placed.end()) {
    for (const WeightFactor::Placed& place : found->second) {
      values[place.inner] += place.value;
    }
  }
}

void fill(const BroadcastFactor& factor, std::size_t chunk, std::span<E> values) {
  std::size_t base = 0;
  for (std::size_t j = 0; j < factor.stride.size(); ++j) {
    base += (factor.shape.coordinate(chunk, j) << factor.shape.dimensions()[j].log_chunk) * factor.stride[j];
  }
  spread(factor.table, factor.shape, factor.stride, 0, base, values);
}

void fill(const CausalMask& mask, std::size_t chunk, std::span<E> values) {
  const std::size_t last = mask.shape.dimensions().size() - 1;
  const Dimension& queries = mask.shape.dimensions()[last - 1];
  const Dimension& keys = mask.shape.dimensions()[last];
  const std::size_t query = (mask.shape.coordinate(chunk, last - 1) << queries.log_chunk) + mask.shift;
  const std::size_t key = mask.shape.coordinate(chunk, last) << keys.log_chunk;
  const std::size_t window = mask.shape.window(mask.shape.coordinate(chunk, 0));
  for (std::size_t x = 0; x < values.size(); ++x) {
    const std::size_t at = key + (x & (keys.chunk() - 1));
    const std::size_t last_key = query + (x >> keys.log_chunk);
    values[x] = at <= last_key && (window == 0 || at + window > last_key) ? E::one() : E::zero();
  }
}

void fill(const TableFactor& factor, std::size_t chunk, std::span<E> values) {
  std::ranges::copy(factor.values.subspan(chunk * values.size(), values.size()), values.begin());
}

/// A broadcast factor's table with the inner variables of kept dimensions bound, one dimension after the other.
std::vector<E> bind_inner(const BroadcastFactor& factor, std::span<const E> inner_point) {
  std::vector<E> bound = factor.table;
  std::size_t at = inner_point.size();
  std::size_t below = 1;  // product of the outer sizes of the kept dimensions already done
  for (std::size_t j = factor.shape.dimensions().size(); j-- > 0;) {
    const Dimension& dimension = factor.shape.dimensions()[j];
    at -= dimension.log_chunk;
    if (!factor.kept[j]) {
      continue;
    }
    const std::vector<E> weights = eq_table(inner_point.subspan(at, dimension.log_chunk));
    const std::size_t outer = std::size_t{1} << dimension.outer_bits();
    std::vector<E> next(bound.size() >> dimension.log_chunk);
    for (std::size_t row = 0; row < next.size() / below; ++row) {
      for (std::size_t i = 0; i < weights.size(); ++i) {
        for (std::size_t b = 0; b < below; ++b) {
          next[row * below + b] += weights[i] * bound[(row * weights.size() + i) * below + b];
        }
      }
    }
    bound = std::move(next);
    below *= outer;
  }
  return bound;
}

using Outer = std::optional<std::vector<E>>;

Outer outer(const TensorFactor& /*factor*/, std::span<const E> /*inner_point*/, Communicator& /*comm*/) {
  return std::nullopt;
}

Outer outer(const WeightFactor& factor, std::span<const E> inner_point, Communicator& /*comm*/) {
  std::vector<E> result(std::size_t{1} << factor.shape.outer_bits());
  for (const WeightFactor::Term& term : factor.terms) {
    std::vector<std::vector<E>> bound;  // per dimension: the inner variables bound
    std::size_t at = 0;
    for (std::size_t j = 0; j < term.tables.size(); ++j) {
      const Dimension& dimension = factor.shape.dimensions()[j];
      auto& values = bound.emplace_back();
      for (std::size_t c = 0; c < std::size_t{1} << dimension.outer_bits(); ++c) {
        values.push_back(
            evaluate(std::span<const E>(term.tables[j]).subspan(c << dimension.log_chunk, dimension.chunk()),
                     inner_point.subspan(at, dimension.log_chunk)));
      }
      at += dimension.log_chunk;
    }
    if (!factor.shape.is_divided()) {
      const std::vector<std::span<const E>> tables(bound.begin(), bound.end());
      add_product(tables, term.scale, result);
      continue;
    }
    for (std::size_t x = 0; x < result.size(); ++x) {
      E product = term.scale;
      for (std::size_t j = 0; j < bound.size(); ++j) {
        product *= bound[j][factor.shape.outer_coordinate(x, j)];
      }
      result[x] += product;
    }
  }
  for (const Beginnings& matrix : factor.beginnings) {
    const Dimension& rows = factor.shape.dimensions()[0];
    for (std::size_t x = 0; x < result.size(); ++x) {
      if (const std::size_t g = factor.shape.outer_coordinate(x, 1); g < matrix.ends.size()) {
        const std::size_t end = rows_in_chunk(rows, factor.shape.outer_coordinate(x, 0), matrix.ends[g]);
        result[x] += matrix.scales[g] * less_than(inner_point, end);
      }
    }
  }
  for (const auto& [chunk, places] : factor.placed) {
    for (const WeightFactor::Placed& place : places) {
      result[factor.shape.outer_index(chunk)] += place.value * eq_index(inner_point, place.inner);
    }
  }
  return result;
}

Outer outer(const BroadcastFactor& factor, std::span<const E> inner_point, Communicator& /*comm*/) {
  const std::vector<E> bound = bind_inner(factor, inner_point);
  const auto& dimensions = factor.shape.dimensions();
  std::vector<E> result(std::size_t{1} << factor.shape.outer_bits());
  for (std::size_t x = 0; x < result.size(); ++x) {
    std::size_t place = 0;
    std::size_t stride = 1;
    for (std::size_t j = dimensions.size(); j-- > 0;) {
      if (factor.kept[j]) {
        place += factor.shape.outer_coordinate(x, j) * stride;
        stride <<= dimensions[j].outer_bits();
      }
    }
    result[x] = bound[place];
  }
  return result;
}

Outer outer(const CausalMask& mask, std::span<const E> inner_point, Communicator& /*comm*/) {
  const std::size_t last = mask.shape.dimensions().size() - 1;
  const Dimension& queries = mask.shape.dimensions()[last - 1];
  const Dimension& keys = mask.shape.dimensions()[last];
  const std::span<const E> query_place =
      inner_point.subspan(inner_point.size() - keys.log_chunk - queries.log_chunk, queries.log_chunk);
  const std::span<const E> key_place = inner_point.last(keys.log_chunk);
  // [key <= query + distance] inside a pair of tiles
  const auto seen = [&](std::ptrdiff_t distance) {
    return distance >= 0 ? less_or_equal(key_place, query_place, static_cast<std::size_t>(distance))
                         : E::one() - less_or_equal(query_place, key_place, static_cast<std::size_t>(-distance - 1));
  };
  std::map<std::ptrdiff_t, E> by_distance;
  const auto known = [&](std::ptrdiff_t distance) {
    const auto [place, missing] = by_distance.try_emplace(distance);
    if (missing) {
      place->second = seen(distance);
    }
    return place->second;
  };
  const unsigned first_bits = mask.shape.dimensions().front().outer_bits();
  std::vector<E> result(std::size_t{1} << mask.shape.outer_bits());
  for (std::size_t x = 0; x < result.size(); ++x) {
    const std::size_t key = x & ((std::size_t{1} << keys.outer_bits()) - 1);
    const std::size_t query = (x >> keys.outer_bits()) & ((std::size_t{1} << queries.outer_bits()) - 1);
    const auto distance = static_cast<std::ptrdiff_t>((query << queries.log_chunk) + mask.shift) -
                          static_cast<std::ptrdiff_t>(key << keys.log_chunk);
    result[x] = known(distance);
    const std::size_t index = x >> (mask.shape.outer_bits() - first_bits);
    const std::size_t window = index < mask.shape.windows().size() ? mask.shape.window(index) : 0;
    if (window > 0) {
      result[x] -= known(distance - static_cast<std::ptrdiff_t>(window));
    }
  }
  return result;
}

Outer outer(const TableFactor& factor, std::span<const E> inner_point, Communicator& comm) {
  return factor.outer(inner_point, comm);
}

}  // namespace

WeightFactor::WeightFactor(Shape over, const std::vector<ScaledWeight>& weights) : shape(std::move(over)) {
  for (const ScaledWeight& weight : weights) {
    if (weight.places != nullptr) {
      for (std::size_t i = 0; i < weight.places->places.size(); ++i) {
        const auto [chunk, inner] = chunk_place(shape, weight.places->places[i]);
        placed[chunk].push_back({inner, weight.scale * weight.places->values[i]});
      }
      continue;
    }
    if (weight.beginnings != nullptr) {
      assert(shape.dimensions()[1].chunk() == 1);
      for (E& scale : beginnings.emplace_back(*weight.beginnings).scales) {
        scale *= weight.scale;
      }
      continue;
    }
    Term& term = terms.emplace_back(Term{weight.scale, {}});
    for (const Factor& factor : weight.weight) {
      term.tables.push_back(factor.table());
    }
  }
}

BroadcastFactor::BroadcastFactor(Shape over, std::vector<E> values, std::vector<bool> kept_dimensions)
    : shape(std::move(over)),
      table(std::move(values)),
      kept(std::move(kept_dimensions)),
      stride(shape.dimensions().size()) {
  std::size_t size = 1;
  for (std::size_t j = stride.size(); j-- > 0;) {
    if (kept[j]) {
      stride[j] = size;
      size <<= shape.dimensions()[j].bits();
    }
  }
  assert(size == table.size());
}

void fill_chunk(const ChunkedFactor& factor, std::size_t chunk, std::span<E> values) {
  std::visit([&](const auto& kind) { fill(kind, chunk, values); }, factor);
}

std::optional<std::vector<E>> outer_table(const ChunkedFactor& factor, std::span<const E> inner_point,
                                          Communicator& comm) {
  return std::visit([&](const auto& kind) { return outer(kind, inner_point, comm); }, factor);
}

}  // namespace tessera
