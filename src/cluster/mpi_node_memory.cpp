#include "cluster/mpi_node_memory.hpp"

#include <algorithm>
#include <array>

#include "cluster/mpi_node_mapping.hpp"

namespace tessera {

NodeMemory::NodeMemory(MPI_Comm comm, std::optional<int> ranks_on_node) : comm_(comm), rank_(rank_in(comm)) {
  if (size_of(comm) == 1) {
    return;
  }
  if (ranks_on_node) {
    MPI_Comm_split(comm, rank_ / *ranks_on_node, rank_, &node_);
  } else {
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node_);
  }
  std::array<int, 2> sizes{size_of(node_), -size_of(node_)};
  MPI_Allreduce(MPI_IN_PLACE, sizes.data(), 2, MPI_INT, MPI_MAX, comm);
  useful_ = sizes[0] == -sizes[1] && sizes[0] > 1;
  if (useful_) {
    file_ = NodeFile::open(node_);
  }
  MPI_Comm_split(comm, rank_in(node_), rank_, &across_);
  across_ranks_.resize(static_cast<std::size_t>(size_of(across_)));
  MPI_Allgather(&rank_, 1, MPI_INT, across_ranks_.data(), 1, MPI_INT, across_);
}

NodeMemory::~NodeMemory() {
  for (MPI_Comm* comm : {&across_, &node_}) {
    if (*comm != MPI_COMM_NULL) {
      MPI_Comm_free(comm);
    }
  }
}

std::shared_ptr<NodeMapping> NodeMemory::mapping_of(std::size_t bytes) {
  std::shared_ptr<NodeMapping> mapping = last_.lock();
  if (all_agree(mapping != nullptr && mapping->holds(bytes), comm_)) {
    return mapping;
  }
  mapping = nullptr;  // before more is made
  mapping = NodeMapping::make(bytes, node_, file_);
  if (!all_agree(mapping != nullptr, comm_)) {
    useful_ = false;
    return nullptr;
  }
  last_ = mapping;
  return mapping;
}

/// Every rank has in `all` what its node's ranks wrote; from other nodes it gets what those with its number wrote.
void NodeMemory::exchange_across(std::byte* all, std::span<const std::size_t> begins, std::size_t piece_bytes) const {
  const auto part = [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return std::span(all + begins[r], begins[r + 1] - begins[r]);
  };
  if (begins.back() <= piece_bytes) {
    std::vector<int> counts, displacements;
    for (const int rank : across_ranks_) {
      counts.push_back(static_cast<int>(part(rank).size()));
      displacements.push_back(static_cast<int>(begins[static_cast<std::size_t>(rank)]));
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, counts.data(), displacements.data(), MPI_BYTE, across_);
    return;
  }
  for (std::size_t root = 0; root < across_ranks_.size(); ++root) {
    const std::span<std::byte> bytes = part(across_ranks_[root]);
    for (std::size_t first = 0; first < bytes.size(); first += piece_bytes) {
      MPI_Bcast(bytes.data() + first, static_cast<int>(std::min(piece_bytes, bytes.size() - first)), MPI_BYTE,
                static_cast<int>(root), across_);
    }
  }
}

std::optional<SharedBytes> NodeMemory::gather(std::span<const std::byte> mine, std::span<const std::size_t> begins,
                                              std::size_t piece_bytes) {
  const std::shared_ptr<NodeMapping> mapping = mapping_of(begins.back());
  if (mapping == nullptr) {
    return std::nullopt;
  }
  std::ranges::copy(mine, mapping->data() + begins[static_cast<std::size_t>(rank_)]);
  std::size_t received = 0;
  if (across_ranks_.size() > 1) {
    exchange_across(mapping->data(), begins, piece_bytes);
    for (const int rank : across_ranks_) {
      const auto r = static_cast<std::size_t>(rank);
      received += rank == rank_ ? 0 : begins[r + 1] - begins[r];
    }
  }
  MPI_Barrier(node_);
  return SharedBytes(mapping, {mapping->data(), begins.back()}, received);
}

}  // namespace tessera
