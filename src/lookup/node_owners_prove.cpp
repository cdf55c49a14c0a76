#include "lookup/node_owners.hpp"

#include <algorithm>
#include <numeric>

#include "lookup/fraction_tree.hpp"

namespace tessera {
namespace {

/// log2 of the nodes that are few: what binding them takes is less than a message.
constexpr unsigned log_few = 8;

struct Node {
  std::uint64_t index = 0;
  int owner = 0;
};

/// The segments of all ranks as nodes, by height above the leaves, ascending.
std::vector<std::vector<Node>> all_segments(const LookupStructure& structure, std::span<const Ownership> columns,
                                            int ranks) {
  const LookupStructure::Slots slots = structure.slots();
  std::vector<std::vector<Node>> nodes(slots.log_leaves + 1);
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t c) { return slots.column[c]; });
  for (const std::size_t c : order) {
    const Shape& shape = structure.columns[c].shape;
    const unsigned bits = shape.inner_bits();
    for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
      nodes[bits].push_back({(slots.column[c] >> bits) + shape.outer_index(chunk),
                             segment_owner(bits, chunk_owner(columns[c], shape, chunk, ranks))});
    }
  }
  for (std::size_t t = 0; t < structure.tables.size(); ++t) {
    const TablePieces pieces(structure.tables[t].log_size, ranks);
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
      nodes[pieces.log_size].push_back(
          {(slots.table[t] >> pieces.log_size) + piece, segment_owner(pieces.log_size, pieces.owner(piece))});
    }
  }
  for (std::vector<Node>& list : nodes) {
    if (!std::ranges::is_sorted(list, {}, &Node::index)) {
      std::ranges::sort(list, {}, &Node::index);
    }
  }
  return nodes;
}

}  // namespace

NodeOwners::NodeOwners(const LookupStructure& structure, std::span<const Ownership> columns, int rank, int ranks) {
  const unsigned root = structure.slots().log_leaves;
  unsigned top = std::max(root, log_few + 1) - log_few;
  for (const LookupColumn& column : structure.columns) {
    top = std::max(top, column.shape.chunk_count() > 0 ? column.shape.inner_bits() : 0);
  }
  for (const LookupTable& table : structure.tables) {
    top = std::max(top, TablePieces(table.log_size, ranks).log_size);
  }
  heights_.resize(top + 1);
  if (ranks == 1) {
    return;  // nodes stay where they are
  }
  const std::vector<std::vector<Node>> segments = all_segments(structure, columns, ranks);
  std::vector<Node> nodes = segments[0];
  std::vector<std::size_t> received(static_cast<std::size_t>(ranks));
  for (std::size_t height = 0; height < top; ++height) {
    std::vector<Node> parents;
    std::ranges::fill(received, 0);
    for (const Node& node : nodes) {
      if (parents.empty() || parents.back().index != node.index / 2) {
        parents.push_back({node.index / 2, node.owner});
      } else if (const int to = parents.back().owner; to != node.owner) {
        ++received[static_cast<std::size_t>(to)];
        if (node.owner == rank) {
          heights_[height].mine.push_back({node.index, to});
        }
      }
    }
    heights_[height].most = std::ranges::max(received);
    nodes.resize(parents.size() + segments[height + 1].size());
    std::ranges::merge(parents, segments[height + 1], nodes.begin(), {}, &Node::index, &Node::index);
  }
}

}  // namespace tessera
