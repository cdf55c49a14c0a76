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

}  // namespace tessera
