#include <algorithm>
#include "commitment/oracle.hpp"

namespace tessera {
namespace {

unsigned padded_bits(const Shape& shape) { return std::max(shape.inner_bits(), OracleLayout::min_log_chunk); }

}  // namespace

OracleLayout::OracleLayout(std::vector<Shape> tensors) : tensors_(std::move(tensors)) {
  std::vector<std::size_t> order(tensors_.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return padded_bits(tensors_[a]) > padded_bits(tensors_[b]); });
  offsets_.resize(tensors_.size());
  // descending powers of two: every offset is a multiple of the size that follows
  for (const std::size_t tensor : order) {
    for (std::size_t chunk = 0; chunk < tensors_[tensor].chunk_count(); ++chunk) {
      offsets_[tensor].push_back(used_);
      used_ += std::size_t{1} << padded_bits(tensors_[tensor]);
    }
  }
  log_size_ = std::max(ceil_log2(used_), min_log_chunk);
}

}  // namespace tessera
