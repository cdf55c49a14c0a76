#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

namespace tessera {

int rank_in(MPI_Comm comm);
int size_of(MPI_Comm comm);
/// Whether all ranks say so. Collective.
bool all_agree(bool mine, MPI_Comm comm);

/// An anonymous file in memory that the first rank of a node makes and the others map: nothing outlives the job, and
/// letting go of it is no collective call. Begins as zeros.
class NodeMapping {
 public:
  NodeMapping() = default;
  ~NodeMapping();
  NodeMapping(const NodeMapping&) = delete;
  NodeMapping& operator=(const NodeMapping&) = delete;

  /// At least `bytes` for the ranks of `node`; nothing on all of them where one cannot map it. Collective.
  static std::shared_ptr<NodeMapping> make(std::size_t bytes, MPI_Comm node);

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] bool holds(std::size_t bytes) const;

 private:
  [[nodiscard]] bool map(int descriptor, std::size_t size);

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tessera
