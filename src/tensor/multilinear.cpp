#include "tensor/multilinear.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>

#include "base/range.hpp"

namespace tessera {

E eq(std::span<const E> a, std::span<const E> b) {
  assert(a.size() == b.size());
  E result = E::one();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const E product = a[i] * b[i];
    result *= E::one() - a[i] - b[i] + product + product;
  }
  return result;
}

E eq_index(std::span<const E> point, std::uint64_t index) {
  E result = E::one();
  for (std::size_t i = 0; i < point.size(); ++i) {
    const bool bit = ((index >> (point.size() - 1 - i)) & 1) != 0;
    result *= bit ? point[i] : E::one() - point[i];
  }
  return result;
}

EqIndices::EqIndices(std::span<const E> point)
    : log_low_(point.size() / 2),
      mask_((std::uint64_t{1} << log_low_) - 1),
      high_(eq_table(point.first(point.size() - log_low_))),
      low_(eq_table(point.last(log_low_))) {}

std::vector<E> eq_table(std::span<const E> point, E scale) {
  std::vector<E> table(std::size_t{1} << point.size());
  table[0] = scale;
  std::size_t size = 1;
  for (const E& coordinate : point) {
    for (std::size_t i = size; i-- > 0;) {
      const E high = table[i] * coordinate;
      table[2 * i + 1] = high;
      table[2 * i] = table[i] - high;
    }
    size *= 2;
  }
  return table;
}

E less_than(std::span<const E> point, std::size_t bound) {
  if (bound >> point.size() != 0) {
    return E::one();  // the whole cube
  }
  E sum;
  E prefix = E::one();
  for (std::size_t i = 0; i < point.size(); ++i) {
    const bool bit = ((bound >> (point.size() - 1 - i)) & 1) != 0;
    if (bit) {
      sum += prefix * (E::one() - point[i]);
      prefix *= point[i];
    } else {
      prefix *= E::one() - point[i];
    }
  }
  return sum;
}

namespace {

/// [carry of y + shift][x above the sum's low bits][y at or above the bound]: sums of beta(a, x)*beta(b, y).
using ComparedWeights = std::array<std::array<std::array<E, 2>, 2>, 2>;

/// Compares x with (y + shift) mod 2^bits. Every y is below the bound if `bounded` is not set.
ComparedWeights compare(std::span<const E> a, std::span<const E> b, std::size_t bits, std::size_t shift,
                        std::size_t bound, bool bounded) {
  const auto coordinate = [](std::span<const E> point, std::size_t i) {
    return i < point.size() ? point[point.size() - 1 - i] : E::zero();
  };
  // from the lowest bit on
  ComparedWeights weight{};
  weight[0][0][bounded ? 1 : 0] = E::one();
  for (std::size_t i = 0; i < bits; ++i) {
    const E x_one = coordinate(a, i);
    const E y_one = coordinate(b, i);
    ComparedWeights next{};
    for (std::size_t carry = 0; carry < 2; ++carry) {
      for (std::size_t y = 0; y < 2; ++y) {
        const std::size_t sum = y + ((shift >> i) & 1) + carry;
        const std::size_t bit_of_bound = (bound >> i) & 1;
        const E scale = y == 1 ? y_one : E::one() - y_one;
        const E x_above = sum % 2 == 0 ? x_one : E::zero();             // x = 1 where the sum has 0
        const E x_below = sum % 2 == 1 ? E::one() - x_one : E::zero();  // x = 0 where it has 1
        for (std::size_t beyond = 0; beyond < (bounded ? 2 : 1); ++beyond) {
          const std::size_t stays = !bounded || y == bit_of_bound ? beyond : y;
          const E all = scale * (weight[carry][0][beyond] + weight[carry][1][beyond]);
          const E above = scale * weight[carry][1][beyond];
          const E stays_above = above + (all - above) * x_above - above * x_below;
          next[sum / 2][1][stays] += stays_above;
          next[sum / 2][0][stays] += all - stays_above;
        }
      }
    }
    weight = next;
  }
  return weight;
}

}  // namespace

E less_or_equal(std::span<const E> a, std::span<const E> b, std::size_t shift, std::size_t bound) {
  const std::size_t bits = std::max(a.size(), b.size());
  if (shift >> bits != 0) {
    return less_than(b, bound);
  }
  const ComparedWeights weight = compare(a, b, bits, shift, bound, bound >> b.size() == 0);
  return weight[0][0][0] + weight[1][0][0] + weight[1][1][0];
}

E less_by(std::span<const E> a, std::span<const E> b, std::size_t gap, std::size_t bound) {
  const std::size_t bits = std::max(a.size(), b.size());
  if (gap == 0) {
    return less_or_equal(a, b, 0, bound);
  }
  if (gap >> bits != 0) {
    return E::zero();
  }
  // y + 2^bits - gap has a carry where y is at least the gap
  return compare(a, b, bits, (std::size_t{1} << bits) - gap, bound, bound >> b.size() == 0)[1][0][0];
}

E less_or_equal_shifted(std::span<const E> a, std::span<const E> b, std::size_t left, std::size_t right,
                        std::size_t bound) {
  return left <= right ? less_or_equal(a, b, right - left, bound) : less_by(a, b, left - right, bound);
}

E evaluate(std::span<const E> values, std::span<const E> point) {
  assert(values.size() == std::size_t{1} << point.size());
  std::vector<E> folded(values.begin(), values.end());
  std::size_t half = folded.size() / 2;
  for (const E& coordinate : point) {
    for (std::size_t i = 0; i < half; ++i) {
      folded[i] += coordinate * (folded[i + half] - folded[i]);
    }
    half /= 2;
  }
  return folded[0];
}

E evaluate_identity(std::span<const E> point) {
  E sum;
  for (const E& coordinate : point) {
    sum = sum + sum + coordinate;
  }
  return sum;
}

std::vector<E> powers(E base, std::size_t count) {
  std::vector<E> result{E::one()};
  while (result.size() < count) {
    result.push_back(result.back() * base);
  }
  return result;
}

std::vector<E> outer_product(std::span<const E> left, std::span<const E> right) {
  std::vector<E> products;
  products.reserve(left.size() * right.size());
  for (const E& a : left) {
    for (const E& b : right) {
      products.push_back(a * b);
    }
  }
  return products;
}

TensorPoint to_tensor_point(const Shape& shape, std::span<const E> flat) {
  assert(flat.size() == shape.bits());
  const std::span<const E> inner = flat.subspan(shape.outer_bits());
  const auto take = [](std::span<const E> from, std::size_t& at, unsigned count, Point& to) {
    const std::span<const E> some = from.subspan(at, count);
    to.insert(to.end(), some.begin(), some.end());
    at += count;
  };
  std::size_t parts = shape.outer_bits();
  for (const Dimension& dimension : shape.dimensions()) {
    parts -= dimension.log_parts;
  }
  TensorPoint point;
  std::size_t outer = 0;
  std::size_t place = 0;
  for (const Dimension& dimension : shape.dimensions()) {
    Point& coordinates = point.emplace_back();
    take(flat, outer, dimension.outer_bits() - dimension.log_parts, coordinates);
    take(flat, parts, dimension.log_parts, coordinates);
    take(inner, place, dimension.log_chunk, coordinates);
  }
  return point;
}

Point to_flat_point(const Shape& shape, const TensorPoint& point) {
  Point flat;
  const auto add = [&](const auto& range_of) {
    for (std::size_t j = 0; j < point.size(); ++j) {
      const Range range = range_of(shape.dimensions()[j]);
      flat.insert(flat.end(), point[j].begin() + static_cast<std::ptrdiff_t>(range.first),
                  point[j].begin() + static_cast<std::ptrdiff_t>(range.last));
    }
  };
  const auto chunk_bits = [](const Dimension& dimension) -> std::size_t {
    return dimension.outer_bits() - dimension.log_parts;
  };
  add([&](const Dimension& dimension) { return Range{0, chunk_bits(dimension)}; });
  add([&](const Dimension& dimension) { return Range{chunk_bits(dimension), dimension.outer_bits()}; });
  add([&](const Dimension& dimension) { return Range{dimension.outer_bits(), dimension.bits()}; });
  return flat;
}

E presence_along(const Dimension& dimension, const Point& point) {
  return less_than(std::span(point).first(dimension.outer_bits()), dimension.chunk_count());
}

E presence_at(const Shape& shape, const TensorPoint& point) {
  const auto& dimensions = shape.dimensions();
  const auto outer = [&](std::size_t j) { return std::span(point[j]).first(dimensions[j].outer_bits()); };
  const bool causal = shape.presence() == Presence::causal;
  const std::size_t separate = dimensions.size() - (causal ? 2 : 0);
  E result = E::one();
  for (std::size_t j = shape.windows().empty() ? 0 : 1; j < separate; ++j) {
    result *= presence_along(dimensions[j], point[j]);
  }
  if (!causal) {
    return result;
  }
  // [first key of the tile <= past + last query of the tile], of the query tiles that there are
  const auto first = [&](std::size_t j) {
    Point place(outer(j).begin(), outer(j).end());
    place.resize(dimensions[j].bits());
    return place;
  };
  const Point query = first(separate);
  const Point key = first(separate + 1);
  const std::size_t queries = dimensions[separate].filled();
  const E seen = less_or_equal(key, query, shape.past() + dimensions[separate].chunk() - 1, queries);
  if (shape.windows().empty()) {
    return result * seen;
  }
  // without [last key of the tile + w <= past + first query of the tile]
  std::map<std::size_t, E> blocks;  // by window
  const std::vector<E> weights = eq_table(point.front());
  for (std::size_t block = 0; block < shape.windows().size(); ++block) {
    blocks[shape.window(block)] += weights[block];
  }
  E tiles;
  for (const auto& [window, weight] : blocks) {
    const E before =
        window == 0 ? E::zero()
                    : less_or_equal_shifted(key, query, window + dimensions.back().chunk() - 1, shape.past(), queries);
    tiles += weight * (seen - before);
  }
  return result * tiles;
}

TensorPoint deal(std::span<const Dimension> dimensions, std::span<const E> coordinates) {
  TensorPoint point;
  for (const Dimension& dimension : dimensions) {
    assert(dimension.bits() <= coordinates.size());
    const std::span<const E> mine = coordinates.first(dimension.bits());
    point.emplace_back(mine.begin(), mine.end());
    coordinates = coordinates.subspan(dimension.bits());
  }
  assert(coordinates.empty());
  return point;
}

Point joined(const TensorPoint& point, std::size_t first, std::size_t last) {
  Point all;
  for (std::size_t j = first; j < last; ++j) {
    all.insert(all.end(), point[j].begin(), point[j].end());
  }
  return all;
}

}  // namespace tessera
