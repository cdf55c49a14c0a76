#include <algorithm>
#include <utility>
#include "commitment/oracle.hpp"
#include "tensor/slots.hpp"

namespace tessera {

OracleLayout::OracleLayout(std::vector<Shape> tensors, unsigned min_log_size) : tensors_(std::move(tensors)) {
  std::vector<unsigned> chunk_bits;
  for (const Shape& shape : tensors_) {
    chunk_bits.insert(chunk_bits.end(), shape.chunk_count(), std::max(shape.inner_bits(), min_log_chunk));
  }
  log_largest_chunk_ = chunk_bits.empty() ? min_log_chunk : *std::max_element(chunk_bits.begin(), chunk_bits.end());
  const Slots slots = deal_slots(chunk_bits);
  auto next = slots.first.begin();
  for (const Shape& shape : tensors_) {
    const auto first = std::exchange(next, next + static_cast<std::ptrdiff_t>(shape.chunk_count()));
    offsets_.emplace_back(first, next);
  }
  used_ = slots.used;
  log_size_ = std::max(ceil_log2(used_), min_log_size);
}

}  // namespace tessera
