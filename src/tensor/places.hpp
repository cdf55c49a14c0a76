#pragma once

#include "tensor/multilinear.hpp"

namespace tessera {

/// Places of a tensor are numbered row-major over the lengths of its dimensions, without padding.
std::uint64_t place_count(const Shape& shape);
/// The natural index of a place along each dimension.
std::vector<std::size_t> place_indices(const Shape& shape, std::uint64_t place);
/// Where a place lies; its chunk must be present.
struct ChunkPlace {
  std::size_t chunk = 0, inner = 0;
};
ChunkPlace chunk_place(const Shape& shape, std::uint64_t place);

/// A tensor that is 0 but for some places.
struct Places {
  Shape shape;
  std::vector<std::uint64_t> places;
  std::vector<E> values;  // of each
};
/// The multilinear extension of such a tensor at a point: a product for each variable and place.
E evaluate(const Places& tensor, const TensorPoint& point);

}  // namespace tessera
