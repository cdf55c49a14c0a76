#pragma once

#include <algorithm>
#include <random>

#include "cluster/communicator.hpp"
#include "tensor/chunked_tensor.hpp"
#include "tensor/multilinear.hpp"

namespace tessera::test {

/// Deterministic values of a tensor whatever the ownership: value of (tensor seed, chunk, place).
template <class T>
ChunkedTensor<T> filled(const Shape& shape, Ownership ownership, std::uint64_t seed, const Communicator& comm) {
  ChunkedTensor<T> tensor(shape, ownership, comm.rank(), comm.size());
  for (const std::size_t chunk : tensor.held()) {
    std::mt19937_64 random(seed * 1000003 + chunk);
    for (T& value : tensor.chunk(chunk)) {
      value = static_cast<T>(random());
    }
  }
  return tensor;
}

/// Random field elements and points.
class RandomElements {
 public:
  explicit RandomElements(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t bound) { return engine_() % bound; }
  E element() { return {F::from_unsigned(engine_()), F::from_unsigned(engine_())}; }
  std::vector<E> elements(std::size_t count) {
    std::vector<E> values(count);
    for (E& value : values) {
      value = element();
    }
    return values;
  }
  TensorPoint point(const Shape& shape) {
    TensorPoint point;
    for (const Dimension& dimension : shape.dimensions()) {
      point.push_back(elements(dimension.bits()));
    }
    return point;
  }

 private:
  std::mt19937_64 engine_;
};

/// An entry of a tensor by its definition: one padded index a dimension.
struct Entry {
  std::vector<std::size_t> index;
  bool present = false;
  std::size_t chunk = 0;  // among the present chunks
  std::size_t place = 0;  // inside the chunk
  std::size_t flat = 0;   // in flat order: outer bits of all dimensions, then inner bits
};

/// Whether a causal shape has the tile of these chunk numbers.
inline bool causal_tile(const std::vector<Dimension>& dimensions, const std::vector<std::size_t>& tile) {
  const std::size_t n = dimensions.size();
  return tile[n - 1] * dimensions[n - 1].chunk() + dimensions[n - 2].length <=
         dimensions[n - 1].length + (tile[n - 2] + 1) * dimensions[n - 2].chunk() - 1;
}

/// Whether the last key of a tile is before the window of its first query.
inline bool before_window(const Shape& shape, const std::vector<std::size_t>& tile) {
  const auto& dimensions = shape.dimensions();
  const std::size_t n = dimensions.size();
  const std::size_t window = shape.windows().empty() ? 0 : shape.windows()[tile[0]];
  const std::size_t past = dimensions[n - 1].length - dimensions[n - 2].length;
  return window > 0 &&
         (tile[n - 1] + 1) * dimensions[n - 1].chunk() - 1 + window <= past + tile[n - 2] * dimensions[n - 2].chunk();
}

/// All 2^bits entries of an undivided shape, row-major over the padded dimensions; chunks are counted one by one, not
/// looked up.
inline std::vector<Entry> all_entries(const Shape& shape) {
  const auto& dimensions = shape.dimensions();
  const std::size_t n = dimensions.size();
  std::vector<Entry> entries(std::size_t{1} << shape.bits());
  std::vector<std::size_t> number(std::size_t{1} << shape.outer_bits());  // place in the outer cube -> chunk
  std::vector<bool> present(number.size());
  std::size_t chunks = 0;
  for (std::size_t outer = 0; outer < number.size(); ++outer) {
    std::vector<std::size_t> coordinates(n);
    std::size_t rest = outer;
    bool inside = true;
    for (std::size_t j = n; j-- > 0;) {
      const std::size_t size = std::size_t{1} << dimensions[j].outer_bits();
      coordinates[j] = rest % size;
      rest /= size;
      inside = inside && coordinates[j] * dimensions[j].chunk() < dimensions[j].length;
    }
    present[outer] = inside && (shape.presence() == Presence::all ||
                                (causal_tile(dimensions, coordinates) && !before_window(shape, coordinates)));
    number[outer] = present[outer] ? chunks++ : 0;
  }
  for (std::size_t x = 0; x < entries.size(); ++x) {
    Entry& entry = entries[x];
    entry.index.resize(n);
    std::size_t rest = x;
    for (std::size_t j = n; j-- > 0;) {
      const std::size_t size = std::size_t{1} << dimensions[j].bits();
      entry.index[j] = rest % size;
      rest /= size;
    }
    std::size_t outer = 0;
    for (std::size_t j = 0; j < n; ++j) {
      outer = (outer << dimensions[j].outer_bits()) + entry.index[j] / dimensions[j].chunk();
      entry.place = entry.place * dimensions[j].chunk() + entry.index[j] % dimensions[j].chunk();
    }
    entry.present = present[outer];
    entry.chunk = number[outer];
    entry.flat = outer * shape.chunk_size() + entry.place;
  }
  return entries;
}

/// Shapes with padded, tiled and causal dimensions, windows and chunks of every kind, small enough to be enumerated.
inline std::vector<Shape> shapes_of_all_kinds() {
  return {Shape({Dimension::whole(1)}), Shape({Dimension::outer(5)}),
          Shape({Dimension::outer(3), Dimension::tiled(96), Dimension::whole(4)}),
          Shape({Dimension{13, 2}, Dimension::outer(1), Dimension{3, 1}, Dimension::outer(3)}),
          Shape({Dimension{16, 2}, Dimension{16, 2}}, Presence::causal),
          // windows by the first index: of one key, as long as a tile, of a key more, none
          Shape({Dimension::outer(4), Dimension{16, 1}, Dimension{16, 2}}, Presence::causal, {1, 4, 5, 0}),
          Shape({Dimension::outer(3), Dimension::outer(2), Dimension{16, 2}, Dimension{29, 2}}, Presence::causal,
                {3, 0, 10}),
          Shape({Dimension::outer(3), Dimension{12, 2}, Dimension{29, 3}}, Presence::causal, {20, 2, 2}),
          Shape({Dimension::outer(2), Dimension{20, 0}, Dimension{20, 1}}, Presence::causal, {7, 1}),
          Shape({Dimension::outer(3), Dimension::outer(2), Dimension{8, 1}, Dimension{8, 1}}, Presence::causal),
          Shape({Dimension::outer(3), Dimension{4, 2}, Dimension{4, 2}}, Presence::causal),
          Shape({Dimension{16, 2}, Dimension{29, 2}}, Presence::causal),
          Shape({Dimension{4, 2}, Dimension{19, 3}}, Presence::causal),
          Shape({Dimension{16, 0}, Dimension{29, 2}}, Presence::causal),
          Shape({Dimension{8, 1}, Dimension{8, 3}}, Presence::causal),
          Shape({Dimension::outer(2), Dimension{8, 1}, Dimension{21, 3}}, Presence::causal),
          // tiles of queries whose number is no power of two; of keys as large, larger, and some before the first query
          Shape({Dimension{12, 2}, Dimension{12, 2}}, Presence::causal),
          Shape({Dimension{5, 0}, Dimension{5, 1}}, Presence::causal),
          Shape({Dimension{6, 1}, Dimension{6, 3}}, Presence::causal),
          Shape({Dimension::outer(3), Dimension{10, 1}, Dimension{17, 1}}, Presence::causal),
          Shape({Dimension::outer(3), Dimension{12, 2}, Dimension{29, 3}}, Presence::causal),
          Shape({Dimension::outer(2), Dimension{7, 0}, Dimension{20, 2}}, Presence::causal)};
}

/// Shapes of which a dimension can be divided, with several chunks behind it, of a number that is no power of two.
inline std::vector<Shape> divisible_shapes() {
  return {Shape({Dimension::outer(3), Dimension::tiled(96), Dimension{48, 4}}),
          Shape({Dimension::outer(2), Dimension{100, 4}, Dimension::cut(33, 3)}),
          Shape({Dimension::tiled(96), Dimension::outer(5)}),
          Shape({Dimension::outer(2), Dimension::outer(3), Dimension{40, 4}, Dimension{12, 2}, Dimension::outer(3)})};
}

/// The same with the first dimension that has longer chunks than one entry in parts for `ranks`.
inline Shape divided(const Shape& whole, int ranks) {
  std::vector<Dimension> dimensions = whole.dimensions();
  const auto first = std::ranges::find_if(dimensions, [](const Dimension& d) { return d.log_chunk > 0; });
  *first = first->divided(1, ranks);
  return Shape(std::move(dimensions), whole.presence(), {whole.windows().begin(), whole.windows().end()});
}

/// A fully held tensor's values as field elements, row-major over the padded dimensions; absent chunks are zero.
inline std::vector<E> dense_values(const IntegerTensor& tensor, const Shape& shape) {
  std::vector<E> values;
  std::visit(
      [&](const auto* integers) {
        for (const Entry& entry : all_entries(shape)) {
          values.push_back(entry.present ? E::from_signed(integers->chunk(entry.chunk)[entry.place]) : E::zero());
        }
      },
      tensor);
  return values;
}

/// beta of one index a dimension at a point, by its definition.
inline E naive_eq(std::span<const E> point, std::size_t index) {
  E product = E::one();
  for (std::size_t i = point.size(); i-- > 0; index /= 2) {
    product *= index % 2 == 1 ? point[i] : E::one() - point[i];
  }
  return product;
}

/// The multilinear extension of 2^n values at a point, by its definition.
inline E naive_evaluate(std::span<const E> values, std::span<const E> point) {
  E sum;
  for (std::size_t x = 0; x < values.size(); ++x) {
    sum += values[x] * naive_eq(point, x);
  }
  return sum;
}

}  // namespace tessera::test
