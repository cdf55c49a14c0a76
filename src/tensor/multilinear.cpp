#include "tensor/multilinear.hpp"

#include <cassert>

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

E eq_index(std::span<const E> point, std::size_t index) {
  E result = E::one();
  for (std::size_t i = 0; i < point.size(); ++i) {
    const bool bit = ((index >> (point.size() - 1 - i)) & 1) != 0;
    result *= bit ? point[i] : E::one() - point[i];
  }
  return result;
}

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

E less_or_equal(std::span<const E> a, std::span<const E> b) {
  assert(a.size() == b.size());
  E less;
  E equal = E::one();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const E both = a[i] * b[i];
    less += equal * (b[i] - both);
    equal *= E::one() - a[i] - b[i] + both + both;
  }
  return less + equal;
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
  TensorPoint point;
  std::size_t outer = 0;
  std::size_t inner = shape.outer_bits();
  for (const Dimension& dimension : shape.dimensions()) {
    Point coordinates(flat.begin() + static_cast<std::ptrdiff_t>(outer),
                      flat.begin() + static_cast<std::ptrdiff_t>(outer + dimension.outer_bits()));
    coordinates.insert(coordinates.end(), flat.begin() + static_cast<std::ptrdiff_t>(inner),
                       flat.begin() + static_cast<std::ptrdiff_t>(inner + dimension.log_chunk));
    outer += dimension.outer_bits();
    inner += dimension.log_chunk;
    point.push_back(std::move(coordinates));
  }
  return point;
}

Point to_flat_point(const Shape& shape, const TensorPoint& point) {
  Point flat;
  for (std::size_t j = 0; j < point.size(); ++j) {
    const unsigned bits = shape.dimensions()[j].outer_bits();
    flat.insert(flat.end(), point[j].begin(), point[j].begin() + bits);
  }
  for (std::size_t j = 0; j < point.size(); ++j) {
    const unsigned bits = shape.dimensions()[j].outer_bits();
    flat.insert(flat.end(), point[j].begin() + bits, point[j].end());
  }
  return flat;
}

E presence_at(const Shape& shape, const TensorPoint& point) {
  const auto& dimensions = shape.dimensions();
  const auto outer = [&](std::size_t j) { return std::span(point[j]).first(dimensions[j].outer_bits()); };
  const bool causal = shape.presence() == Presence::causal;
  const std::size_t separate = dimensions.size() - (causal ? 2 : 0);
  E result = E::one();
  for (std::size_t j = 0; j < separate; ++j) {
    result *= less_than(outer(j), dimensions[j].chunk_count());
  }
  if (causal) {
    // query and key have equally many tiles, a power of two
    result *= less_or_equal(outer(separate + 1), outer(separate));
  }
  return result;
}

}  // namespace tessera
