#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

namespace tessera {

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);
/// Whether all ranks say so. Collective.
bool all_agree(bool mine, MPI_Comm comm);

/// An anonymous file in memory that the first rank of a node makes and the others open: nothing outlives the job.
/// Opened once, for a process that becomes private (hiding proofs) shows its files to nobody any more.
class NodeFile {
 public:
  /// Nothing on all ranks of `node` where one cannot open it. Collective.
  static std::shared_ptr<NodeFile> open(MPI_Comm node);
  explicit NodeFile(int descriptor) : descriptor_(descriptor) {}
  ~NodeFile();
  NodeFile(const NodeFile&) = delete;
  NodeFile& operator=(const NodeFile&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// A place behind all others, the same on all ranks.
  [[nodiscard]] std::size_t extend(std::size_t bytes);

 private:
  int descriptor_;
  std::size_t end_ = 0;
};

/// Memory of a node's ranks, a part of their file. Its pages go back to the system when the last one lets go of it,
/// which is no collective call. Begins as zeros.
class NodeMapping {
 public:
  explicit NodeMapping(std::shared_ptr<NodeFile> file) : file_(std::move(file)) {}
  ~NodeMapping();
  NodeMapping(const NodeMapping&) = delete;
  NodeMapping& operator=(const NodeMapping&) = delete;

  /// At least `bytes` for the ranks of `node`; nothing on all of them where one cannot map it. Collective.
  static std::shared_ptr<NodeMapping> make(std::size_t bytes, MPI_Comm node, const std::shared_ptr<NodeFile>& file);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] bool holds(std::size_t bytes) const;

 private:
  [[nodiscard]] bool map(std::size_t offset, std::size_t size);

  std::shared_ptr<NodeFile> file_;
  std::byte* data_ = nullptr;
  std::size_t offset_ = 0, bytes_ = 0;
};

}  // namespace tessera
