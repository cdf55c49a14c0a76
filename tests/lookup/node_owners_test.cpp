#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "lookup/fraction_tree.hpp"

namespace tessera::test {
namespace {

using Sets = std::vector<std::set<std::uint64_t>>;  // indices of nodes, by rank

struct Case {
  LookupStructure structure;
  std::vector<Ownership> owners;
};

Case random_case(std::mt19937_64& random) {
  Case result;
  for (const unsigned log_size : {8U, 5U, 1U}) {
    result.structure.tables.push_back({"table", log_size, {}});
  }
  const std::vector<std::size_t> dimensions{0, 1, Ownership::replicated};
  for (int c = 0; c < 6; ++c) {
    const auto some = [&](std::size_t most) { return 1 + random() % most; };
    const Shape shape(
        {Dimension::outer(some(9)), Dimension::outer(some(13)), Dimension::whole(std::size_t{1} << random() % 6)});
    result.structure.columns.push_back({"column", shape, random() % 3});
    result.owners.push_back({dimensions[random() % dimensions.size()]});
  }
  return result;
}

/// Nodes that ranks' segments become, by height and rank.
std::map<unsigned, Sets> segments_of(const Case& data, int ranks) {
  const LookupStructure::Slots slots = data.structure.slots();
  std::map<unsigned, Sets> nodes;
  const auto add = [&](unsigned height, int rank, std::uint64_t index) {
    Sets& sets = nodes[height];
    sets.resize(static_cast<std::size_t>(ranks));
    sets[static_cast<std::size_t>(segment_owner(height, rank))].insert(index);
  };
  for (std::size_t c = 0; c < data.structure.columns.size(); ++c) {
    const Shape& shape = data.structure.columns[c].shape;
    for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
      add(shape.inner_bits(), chunk_owner(data.owners[c], shape, chunk, ranks),
          (slots.column[c] >> shape.inner_bits()) + shape.outer_index(chunk));
    }
  }
  for (std::size_t t = 0; t < data.structure.tables.size(); ++t) {
    const TablePieces pieces(data.structure.tables[t].log_size, ranks);
    for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
      add(pieces.log_size, pieces.owner(piece), (slots.table[t] >> pieces.log_size) + piece);
    }
  }
  return nodes;
}

TEST(NodeOwners, nodes_that_become_one_meet_at_one_rank) {
  std::mt19937_64 random(3);
  std::size_t moved = 0;
  for (int i = 0; i < 40; ++i) {
    const Case data = random_case(random);
    for (const int ranks : {1, 2, 3, 5, 16}) {
      std::vector<NodeOwners> owners;
      for (int rank = 0; rank < ranks; ++rank) {
        owners.emplace_back(data.structure, data.owners, rank, ranks);
      }
      std::map<unsigned, Sets> segments = segments_of(data, ranks);
      const unsigned top = owners.front().top();
      EXPECT_LE(segments.rbegin()->first, top) << "no segment is longer";
      Sets nodes(static_cast<std::size_t>(ranks));
      for (unsigned height = 0; height <= top; ++height) {
        for (std::size_t rank = 0; rank < segments[height].size(); ++rank) {
          nodes[rank].merge(segments[height][rank]);
        }
        if (height == top) {
          break;
        }
        std::vector<std::size_t> received(nodes.size());
        for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
          for (const NodeOwners::Move& move : owners[rank].moves(height)) {
            ASSERT_EQ(nodes[rank].erase(move.index), 1U) << "a rank's own node";
            ASSERT_NE(move.to, static_cast<int>(rank));
            nodes[static_cast<std::size_t>(move.to)].insert(move.index);
            ++received[static_cast<std::size_t>(move.to)];
            ++moved;
          }
        }
        EXPECT_EQ(owners.front().most(height), std::ranges::max(received));
        EXPECT_EQ(owners.front().any(height), std::ranges::max(received) > 0);
        std::map<std::uint64_t, std::size_t> rank_of;  // parents
        for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
          std::set<std::uint64_t> parents;
          for (const std::uint64_t index : nodes[rank]) {
            ASSERT_EQ(rank_of.emplace(index / 2, rank).first->second, rank) << "of " << ranks << " at " << height;
            parents.insert(index / 2);
          }
          nodes[rank] = parents;
        }
      }
    }
  }
  EXPECT_GT(moved, 1000U);
}

}  // namespace
}  // namespace tessera::test
