#include <algorithm>
#include <utility>
#include "commitment/oracle.hpp"
#include "tensor/slots.hpp"

namespace tessera {
namespace {

/// First index of every part, from those of the chunks.
std::vector<std::size_t> part_offsets(const Shape& shape, const Shape& whole,
                                      const std::vector<std::size_t>& chunk_offsets) {
  std::vector<std::size_t> offsets;
  std::vector<std::size_t> coordinates(shape.dimensions().size());
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    std::size_t part = 0;
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      const unsigned log_parts = shape.dimensions()[d].log_parts;
      const std::size_t coordinate = shape.coordinate(chunk, d);
      coordinates[d] = coordinate >> log_parts;
      part = (part << log_parts) | (coordinate & ((std::size_t{1} << log_parts) - 1));
    }
    offsets.push_back(chunk_offsets[whole.chunk_at(coordinates)] + (part << shape.inner_bits()));
  }
  return offsets;
}

}  // namespace

OracleLayout::OracleLayout(std::vector<Shape> tensors, unsigned min_log_size) : tensors_(std::move(tensors)) {
  std::vector<unsigned> chunk_bits;
  std::vector<Shape> whole;
  for (const Shape& tensor : tensors_) {
    const Shape& shape = whole.emplace_back(tensor.undivided());
    chunk_bits.insert(chunk_bits.end(), shape.chunk_count(), std::max(shape.inner_bits(), min_log_chunk));
  }
  log_largest_chunk_ = chunk_bits.empty() ? min_log_chunk : *std::max_element(chunk_bits.begin(), chunk_bits.end());
  const Slots slots = deal_slots(chunk_bits);
  auto next = slots.first.begin();
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const auto first = std::exchange(next, next + static_cast<std::ptrdiff_t>(whole[t].chunk_count()));
    offsets_.emplace_back(first, next);
    if (tensors_[t].is_divided()) {
      offsets_.back() = part_offsets(tensors_[t], whole[t], offsets_.back());
    }
  }
  used_ = slots.used;
  log_size_ = std::max(ceil_log2(used_), min_log_size);
}

}  // namespace tessera
