#pragma once

#include "cluster/communicator.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// Matrix columns of a chunk: how many, and how many of their rows are values (the rest is padding).
struct ColumnCounts {
  std::size_t count;
  std::size_t rows;
};

inline ColumnCounts columns_of(std::size_t chunk_size, unsigned log_rows) {
  const std::size_t width = std::size_t{1} << log_rows;
  return chunk_size < width ? ColumnCounts{1, chunk_size} : ColumnCounts{chunk_size >> log_rows, width};
}

/// Whether this rank works on a chunk.
template <class T>
bool counts(const ChunkedTensor<T>& tensor, std::size_t chunk, const Communicator& comm) {
  return tensor.ownership().owner(tensor.shape(), chunk, comm.size()) == comm.rank();
}

/// Columns that are combined at once if chunks have few: what a call takes beside its columns is as much as some of
/// them.
inline constexpr std::size_t columns_at_once = 512;

}  // namespace tessera
