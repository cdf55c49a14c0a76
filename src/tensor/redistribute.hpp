#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "cluster/communicator.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// Chunks of a tensor by rank, ascending; the same function on every rank.
using ChunksOf = std::function<std::vector<std::size_t>(int rank)>;

/// Columns, along the last dimension inside a chunk, that a rank has of it.
struct ColumnsOf {
  int rank = 0;
  Range columns;
};

/// A tensor of which several ranks may have columns of the same chunk (`parts_of(chunk)`, ascending, the same on every
/// rank) as the chunks that each rank wants, of `ownership`. What a rank wants of its own is copied. Collective.
template <class T, class PartsOf>
ChunkedTensor<T> assemble(const ChunkedTensor<T>& from, Ownership ownership, const ChunksOf& wanted,
                          const PartsOf& parts_of, Communicator& comm) {
  const Shape& shape = from.shape();
  // visit(place, count) for the stretches of a chunk that a part is
  const auto for_stretches = [&](const ColumnsOf& part, const auto& visit) {
    const std::size_t stride = shape.dimensions().back().chunk();
    const bool whole = part.columns.size() == stride;
    for (std::size_t row = 0; row < (whole ? 1 : shape.chunk_size() / stride); ++row) {
      visit(row * stride + part.columns.first, whole ? shape.chunk_size() : part.columns.size());
    }
  };
  std::vector<MessageBytes> send(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    MessageBytes& to = send[static_cast<std::size_t>(rank)];
    for (const std::size_t chunk : rank == comm.rank() ? std::vector<std::size_t>() : wanted(rank)) {
      for (const ColumnsOf& part : parts_of(chunk)) {
        if (part.rank != comm.rank()) {
          continue;
        }
        for_stretches(part, [&](std::size_t place, std::size_t count) {
          const auto bytes = std::as_bytes(from.chunk(chunk).subspan(place, count));
          to.insert(to.end(), bytes.begin(), bytes.end());
        });
      }
    }
  }
  const std::vector<MessageBytes> received = comm.all_to_all_bytes(std::move(send));
  std::vector<std::size_t> read(received.size());
  ChunkedTensor<T> result = ChunkedTensor<T>::holding(shape, ownership, wanted(comm.rank()));
  for (const std::size_t chunk : result.held()) {
    for (const ColumnsOf& part : parts_of(chunk)) {
      const MessageBytes& bytes = received[static_cast<std::size_t>(part.rank)];
      std::size_t& at = read[static_cast<std::size_t>(part.rank)];
      for_stretches(part, [&](std::size_t place, std::size_t count) {
        const std::span<T> to = result.chunk(chunk).subspan(place, count);
        if (part.rank == comm.rank()) {
          std::ranges::copy(from.chunk(chunk).subspan(place, count), to.begin());
        } else if (at + to.size_bytes() > bytes.size()) {
          throw std::runtime_error("redistribute: a rank sent too few chunks");
        } else {
          std::memcpy(to.data(), bytes.data() + at, to.size_bytes());
          at += to.size_bytes();
        }
      });
    }
  }
  return result;
}

/// A tensor whose owners have whole chunks, as the chunks that each rank wants, of `ownership`. Collective.
template <class T>
ChunkedTensor<T> redistribute(const ChunkedTensor<T>& from, Ownership ownership, const ChunksOf& wanted,
                              Communicator& comm) {
  const Range all{0, from.shape().dimensions().back().chunk()};
  const auto owner = [&](std::size_t chunk) {
    return std::array{ColumnsOf{from.ownership().owner(from.shape(), chunk, comm.size()), all}};
  };
  return assemble(from, ownership, wanted, owner, comm);
}

}  // namespace tessera
