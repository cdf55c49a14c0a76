#pragma once

#include <cstring>
#include <functional>
#include <stdexcept>

#include "cluster/communicator.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// Chunks of a tensor by rank, ascending; the same function on every rank.
using ChunksOf = std::function<std::vector<std::size_t>(int rank)>;

/// A tensor whose owners hold it as the chunks that each rank wants, of `ownership`. What a rank wants of its own is
/// copied, the rest is sent by its owner. Collective.
template <class T>
ChunkedTensor<T> redistribute(const ChunkedTensor<T>& from, Ownership ownership, const ChunksOf& wanted,
                              Communicator& comm) {
  const Shape& shape = from.shape();
  const auto owner = [&](std::size_t chunk) { return from.ownership().owner(shape, chunk, comm.size()); };
  std::vector<MessageBytes> send(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    for (const std::size_t chunk : wanted(rank)) {
      if (rank != comm.rank() && owner(chunk) == comm.rank()) {
        const auto bytes = std::as_bytes(from.chunk(chunk));
        send[static_cast<std::size_t>(rank)].insert(send[static_cast<std::size_t>(rank)].end(), bytes.begin(),
                                                    bytes.end());
      }
    }
  }
  const std::vector<MessageBytes> received = comm.all_to_all_bytes(std::move(send));
  std::vector<std::size_t> read(received.size());
  ChunkedTensor<T> result = ChunkedTensor<T>::holding(shape, ownership, wanted(comm.rank()));
  for (const std::size_t chunk : result.held()) {
    const std::span<T> to = result.chunk(chunk);
    const auto rank = static_cast<std::size_t>(owner(chunk));
    if (owner(chunk) == comm.rank()) {
      std::ranges::copy(from.chunk(chunk), to.begin());
    } else if (read[rank] + to.size_bytes() > received[rank].size()) {
      throw std::runtime_error("redistribute: a rank sent too few chunks");
    } else {
      std::memcpy(to.data(), received[rank].data() + read[rank], to.size_bytes());
      read[rank] += to.size_bytes();
    }
  }
  return result;
}

/// Columns, along the last dimension, that a rank has of some chunks.
struct ColumnsOf {
  int rank = 0;
  Range columns;
};

/// The same where several ranks have columns of the same chunks, which are all of the last dimension:
/// `parts_of(chunk)`, ascending. Collective.
template <class T, class PartsOf>
ChunkedTensor<T> assemble(const ChunkedTensor<T>& from, Ownership ownership, const ChunksOf& wanted,
                          const PartsOf& parts_of, Communicator& comm) {
  const Shape& shape = from.shape();
  const std::size_t stride = shape.dimensions().back().chunk();
  std::vector<MessageBytes> send(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    MessageBytes& to = send[static_cast<std::size_t>(rank)];
    for (const std::size_t chunk : wanted(rank)) {
      for (const ColumnsOf& part : parts_of(chunk)) {
        if (part.rank != comm.rank()) {
          continue;
        }
        const auto values = from.chunk(chunk);
        for (std::size_t row = 0; row < values.size(); row += stride) {
          const auto bytes = std::as_bytes(values.subspan(row + part.columns.first, part.columns.size()));
          to.insert(to.end(), bytes.begin(), bytes.end());
        }
      }
    }
  }
  const std::vector<MessageBytes> received = comm.all_to_all_bytes(std::move(send));
  std::vector<std::size_t> read(received.size());
  ChunkedTensor<T> result = ChunkedTensor<T>::holding(shape, ownership, wanted(comm.rank()));
  for (const std::size_t chunk : result.held()) {
    const std::span<T> to = result.chunk(chunk);
    for (const ColumnsOf& part : parts_of(chunk)) {
      const MessageBytes& bytes = received[static_cast<std::size_t>(part.rank)];
      std::size_t& at = read[static_cast<std::size_t>(part.rank)];
      const std::size_t size = part.columns.size() * sizeof(T);
      if (at + size * (to.size() / stride) > bytes.size()) {
        throw std::runtime_error("redistribute: a rank sent too few columns");
      }
      for (std::size_t row = 0; row < to.size(); row += stride, at += size) {
        std::memcpy(to.data() + row + part.columns.first, bytes.data() + at, size);
      }
    }
  }
  return result;
}

}  // namespace tessera
