#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lookup/lookup.hpp"

namespace tessera {

/// Whose the nodes of the look-up's tree are above the ranks' segments: a node belongs to who has its first present
/// leaf. Before two nodes of different ranks become one, the second goes to the rank of the first; once few are left,
/// all ranks have all of them.
class NodeOwners {
 public:
  /// `columns`: who owns their chunks.
  NodeOwners(const LookupStructure& structure, std::span<const Ownership> columns, int rank, int ranks);

  /// The height above the leaves from which on all ranks have all nodes: no lower than the longest segment.
  [[nodiscard]] unsigned top() const { return static_cast<unsigned>(heights_.size()) - 1; }

  struct Move {
    std::uint64_t index;  ///< in its level
    int to;               ///< rank
  };
  /// This rank's nodes at this height, below top(), that go to other ranks, ascending.
  [[nodiscard]] std::span<const Move> moves(unsigned height) const { return heights_[height].mine; }
  /// Whether nodes of any rank do.
  [[nodiscard]] bool any(unsigned height) const { return heights_[height].most > 0; }
  /// How many the rank that gets most gets.
  [[nodiscard]] std::size_t most(unsigned height) const { return heights_[height].most; }

 private:
  struct Height {
    std::vector<Move> mine;
    std::size_t most = 0;
  };
  std::vector<Height> heights_;
};

}  // namespace tessera
