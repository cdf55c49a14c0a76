#pragma once

#include <omp.h>

#include <algorithm>
#include <functional>

#include "lookup/level_kernels.hpp"
#include "lookup/node_owners.hpp"

namespace tessera {

struct SegmentClass;

/// A node with its index in its level; nodes that are not listed are neutral.
struct SparseFraction {
  std::uint64_t index = 0;
  Fraction value;
};
struct SparseNode {
  std::uint64_t index = 0;
  Children children;
};

/// Nodes at one height above the leaves that are no run of a segment, ascending: this rank's own, or, from
/// NodeOwners::top() on, those of all ranks.
struct SparseNodes {
  RawVector<SparseNode> own;
  RawVector<SparseNode> shared;

  /// Own nodes that segments of this rank have shrunk to: node(i) is that of segment i, asked by several threads.
  void add(const SegmentClass& segments, const std::function<Children(std::size_t)>& node);
  /// Nodes go to who has their parents, or to all ranks. Collective.
  void move(const NodeOwners& owners, unsigned height, Communicator& comm);
};

/// The parents of fractions, ascending.
RawVector<SparseNode> pair_up(std::span<const SparseFraction> fractions);
/// What nodes come to.
RawVector<SparseFraction> combined(std::span<const SparseNode> nodes);

/// Binds the last variable: each node's pair becomes one.
void bind_sparse(RawVector<SparseNode>& nodes, E challenge);
/// Binds neighbours' pairs, whose other node may be neutral, to the beginning of `nodes`; how many there are.
/// Vectorised.
std::size_t bind_pairs_in_place(std::span<SparseNode> nodes, E challenge);

/// The shares in which threads take a list of so many nodes: each is worth a thread.
inline std::size_t shares_of(std::size_t nodes) {
  constexpr std::size_t least_share = 512;
  return std::clamp<std::size_t>(nodes / least_share, 1, static_cast<std::size_t>(omp_get_max_threads()));
}

/// Calls work(share, nodes) for shares of the nodes that threads take, in their order; a pair's are in one.
template <class Node, class Work>
void for_shares(std::span<Node> nodes, std::size_t shares, const Work& work) {
  const auto begin_of = [&](std::size_t share) {
    std::size_t first = nodes.size() * share / shares;
    while (first > 0 && first < nodes.size() && nodes[first - 1].index / 2 == nodes[first].index / 2) {
      ++first;
    }
    return first;
  };
#pragma omp parallel for schedule(static) if (shares > 1)
  for (std::size_t share = 0; share < shares; ++share) {
    const std::size_t first = begin_of(share);
    work(share, nodes.subspan(first, begin_of(share + 1) - first));
  }
}

}  // namespace tessera
