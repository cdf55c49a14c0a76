#include "commitment/oracle_matrix.hpp"

#include <algorithm>

namespace tessera {

OracleMatrix::OracleMatrix(const OracleLayout& layout, unsigned log_rows, std::span<const IntegerTensor> tensors,
                           Communicator& comm)
    : layout_(layout),
      log_rows_(log_rows),
      tensors_(tensors),
      comm_(comm),
      filled_(std::size_t{1} << (layout.log_size() - log_rows)) {
  if (tensors.size() != layout.tensors().size() || log_rows > OracleLayout::min_log_chunk) {
    throw std::invalid_argument("commit_oracle: the oracle has " + std::to_string(layout.tensors().size()) +
                                " tensors, " + std::to_string(tensors.size()) + " given, for 2^" +
                                std::to_string(log_rows) + " rows");
  }
  const std::size_t width = std::size_t{1} << log_rows_;
  for (std::size_t t = 0; t < layout.tensors().size(); ++t) {
    const Shape& shape = layout.tensors()[t];
    for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
      chunks_.emplace_back(t, chunk);
      if (shape.chunk_size() >= width) {
        const auto first = filled_.begin() + static_cast<std::ptrdiff_t>(layout.offset(t, chunk) >> log_rows_);
        std::fill_n(first, shape.chunk_size() >> log_rows_, std::uint8_t{1});
      }
    }
  }
}

}  // namespace tessera
