#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "cluster/communicator.hpp"

namespace tessera {

class NodeFile;
class NodeMapping;

/// Memory that the ranks of a node share: what all ranks gather is in it once a node instead of once a rank, comes to a
/// node once, and what ranks of the same node contribute is written once.
class NodeMemory {
 public:
  /// The nodes of a communicator; `ranks_on_node`: so many consecutive ranks are taken to be a node (tests).
  /// Collective.
  explicit NodeMemory(MPI_Comm comm, std::optional<int> ranks_on_node = std::nullopt);
  ~NodeMemory();
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  /// Nodes have several ranks, all as many.
  [[nodiscard]] bool useful() const { return useful_; }

  /// Bytes of all ranks, rank r's from begins[r] on, total = begins.back(); nothing on all ranks where some node cannot
  /// share memory. Pieces of messages have at most `piece_bytes`. Valid until the next call. Collective.
  std::optional<SharedBytes> gather(std::span<const std::byte> mine, std::span<const std::size_t> begins,
                                    std::size_t piece_bytes);

 private:
  /// Memory of so many bytes: the last one if everybody still has it; nothing on all ranks where some node has none.
  /// Waits for all ranks.
  std::shared_ptr<NodeMapping> mapping_of(std::size_t bytes);
  void exchange_across(std::byte* all, std::span<const std::size_t> begins, std::size_t piece_bytes) const;

  MPI_Comm comm_;                    // not owned
  MPI_Comm node_ = MPI_COMM_NULL;    // ranks of this node
  MPI_Comm across_ = MPI_COMM_NULL;  // of every node the one with this rank's number there
  std::shared_ptr<NodeFile> file_;
  bool useful_ = false;
  int rank_ = 0;
  std::vector<int> across_ranks_;  // their numbers in comm_
  std::weak_ptr<NodeMapping> last_;
};

}  // namespace tessera
