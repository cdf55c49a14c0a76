#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cluster/communicator.hpp"

namespace tessera {

class NodeFile;
class NodeMapping;

/// Where the ranks of a node put what is short, each in a place of its own, for the others to read: a collective call
/// takes them a cache line each instead of messages, and one rank of each node the messages between nodes. Who waits
/// looks after MPI meanwhile, and lets others have the core.
class NodeBoard {
 public:
  /// Adds the values of one rank to those of others: combine(into, from, count).
  using Combine = void (*)(std::byte* into, const std::byte* from, std::size_t count);

  /// A board for the nodes of a communicator, with any number of ranks each; `node`: the ranks of this one's node,
  /// `file`: the node's memory. Null on all ranks where some node cannot share memory, or none has two ranks.
  /// Collective.
  static std::unique_ptr<NodeBoard> make(MPI_Comm comm, MPI_Comm node, const std::shared_ptr<NodeFile>& file);
  ~NodeBoard();
  NodeBoard(const NodeBoard&) = delete;
  NodeBoard& operator=(const NodeBoard&) = delete;

  /// Whether parts that begin there are short enough; the same on all ranks.
  [[nodiscard]] static bool holds(std::span<const std::size_t> begins);
  [[nodiscard]] static bool holds_sum(std::size_t bytes);
  /// Bytes of all ranks, rank r's from begins[r] on. Collective.
  void gather(std::span<const std::byte> mine, std::span<const std::size_t> begins, std::span<std::byte> all);
  /// `count` values of all ranks combined, in place; `type` and `operation`: what MPI calls values and combine.
  /// Collective.
  void reduce(std::span<std::byte> values, std::size_t count, Combine combine, MPI_Datatype type, MPI_Op operation);

 private:
  NodeBoard(MPI_Comm comm, MPI_Comm node, std::shared_ptr<NodeMapping> mapping);
  /// What a rank of this node, or the first one for all, writes in this call.
  [[nodiscard]] std::byte* place(std::size_t rank) const;
  [[nodiscard]] std::byte* result() const { return place(ranks_.size()); }
  void write(std::byte* to, std::span<const std::byte> bytes) const;
  /// The bytes there once they are this call's.
  [[nodiscard]] const std::byte* await(const std::byte* from) const;
  void gather_across(const std::function<std::span<std::byte>(std::size_t rank)>& part) const;

  MPI_Comm node_;                    // not owned
  MPI_Comm firsts_ = MPI_COMM_NULL;  // of every node the first rank; on those alone
  std::shared_ptr<NodeMapping> mapping_;
  int rank_ = 0;                               // in the communicator
  std::size_t here_ = 0;                       // on the node
  std::vector<int> ranks_;                     // this node's, by their numbers there
  std::vector<std::vector<std::size_t>> all_;  // every node's, as firsts_ has them
  std::uint64_t call_ = 0;
  unsigned spins_ = 0;
};

}  // namespace tessera
