#include "tensor/places.hpp"

namespace tessera {

std::uint64_t place_count(const Shape& shape) {
  std::uint64_t count = 1;
  for (const Dimension& dimension : shape.dimensions()) {
    count *= dimension.length;
  }
  return count;
}

std::vector<std::size_t> place_indices(const Shape& shape, std::uint64_t place) {
  std::vector<std::size_t> indices(shape.dimensions().size());
  for (std::size_t j = indices.size(); j-- > 0;) {
    const std::size_t length = shape.dimensions()[j].length;
    indices[j] = static_cast<std::size_t>(place % length);
    place /= length;
  }
  return indices;
}

ChunkPlace chunk_place(const Shape& shape, std::uint64_t place) {
  std::vector<std::size_t> indices = place_indices(shape, place);
  std::size_t inner = 0;
  for (std::size_t j = 0; j < indices.size(); ++j) {
    const Dimension& dimension = shape.dimensions()[j];
    inner = (inner << dimension.log_chunk) + (indices[j] & (dimension.chunk() - 1));
    indices[j] >>= dimension.log_chunk;
  }
  return {shape.chunk_at(indices), inner};
}

E evaluate(const Places& tensor, const TensorPoint& point) {
  E sum;
  for (std::size_t i = 0; i < tensor.places.size(); ++i) {
    const std::vector<std::size_t> indices = place_indices(tensor.shape, tensor.places[i]);
    E weight = tensor.values[i];
    for (std::size_t j = 0; j < indices.size(); ++j) {
      weight *= eq_index(point[j], indices[j]);
    }
    sum += weight;
  }
  return sum;
}

}  // namespace tessera
