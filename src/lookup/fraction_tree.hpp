#pragma once

#include <cstring>

#include "lookup/level_kernels.hpp"
#include "lookup/lookup.hpp"
#include "lookup/node_owners.hpp"
#include "lookup/sparse_nodes.hpp"

namespace tessera {

/// What the prover's leaves are made of.
struct LookupInput {
  const LookupStructure& structure;
  std::span<const LookupColumnData> columns;
  const std::vector<std::vector<std::int64_t>>& multiplicities;
  E alpha;
  E lambda;

  [[nodiscard]] bool has_pairs(std::size_t table) const { return !structure.tables[table].values.empty(); }
  [[nodiscard]] LeafCode code(std::size_t table) const {
    return {alpha - lambda * lambda * E::from_unsigned(table + 1), lambda};
  }
};

/// An aligned run of leaves that are all present: neighbouring chunks of a column or a piece of a table.
struct Segment {
  bool is_table = false;
  std::size_t source = 0;  // column or table
  std::size_t part = 0;    // first chunk of the column, piece of the table
  std::size_t place = 0;   // first leaf / 2^log_leaves
};

enum class LeafKind : std::uint8_t {
  integers,   ///< columns of range tables: numerator 1, denominator from a
  pairs,      ///< columns of tables with values: from a and b
  fractions,  ///< numerator and denominator stored: table rows and short chunks
};

/// This rank's segments of one kind and length, ascending. Every rank has the same list of segment classes, some of
/// them empty.
struct SegmentClass {
  LeafKind kind = LeafKind::fractions;
  unsigned log_leaves = 0;
  std::vector<Segment> segments;
  std::vector<LeafIntegers> leaves;  // integers and pairs: of each segment
  // those that lie nowhere else
  BlockBuffer<std::uint16_t> narrow;
  BlockBuffer<std::uint32_t> wide;
  BlockBuffer<std::int32_t> b;
};

/// Shorter chunks are stored as fractions: the integer kernels work on blocks.
inline constexpr unsigned least_integer_bits = 6;

/// Who works on a chunk: its owner; chunks of a replicated column are distributed.
int chunk_owner(const Ownership& ownership, const Shape& shape, std::size_t chunk, int ranks);

/// Whose node a segment becomes: single leaves are known to all ranks, and the first one's from the beginning.
constexpr int segment_owner(unsigned log_leaves, int owner) { return log_leaves == 0 ? 0 : owner; }

/// How a table is distributed: in equal pieces, a power of two of them.
struct TablePieces {
  unsigned log_count, log_size;  // of pieces, of rows of each
  int ranks;

  TablePieces(unsigned log_rows, int among)
      : log_count(std::min(log_rows, ceil_log2(static_cast<std::size_t>(among)))),
        log_size(log_rows - log_count),
        ranks(among) {}
  [[nodiscard]] std::size_t count() const { return std::size_t{1} << log_count; }
  [[nodiscard]] int owner(std::size_t piece) const { return contiguous_owner(piece, count(), ranks); }
};

/// The segment classes with this rank's segments of at most 2^top leaves, or a chunk's; columns read.
std::vector<SegmentClass> make_segments(const LookupInput& input, unsigned top, const Communicator& comm);

/// a and b of a column's segment of 2^log_leaves leaves.
void read_segment(const LookupInput& input, const Segment& segment, unsigned log_leaves, std::span<std::uint32_t> a,
                  std::span<std::int32_t> b);

/// Level j of the tree: 2^j nodes with their children. A segment class whose segments are longer than one node keeps
/// them in `nodes` (segment after segment; empty below kept_height of integer columns and below
/// kept_height_of_fractions of others); all others are in `sparse`.
struct FractionLevel {
  std::vector<BlockBuffer<ChildrenBlock>> nodes;  // by segment class
  SparseNodes sparse;
};

/// All fractions, summed pairwise from the leaves to the root; collective.
class FractionTree {
 public:
  FractionTree(const LookupInput& input, const std::vector<SegmentClass>& classes, const NodeOwners& owners,
               Communicator& comm);
  [[nodiscard]] const Fraction& root() const { return root_; }
  [[nodiscard]] unsigned log_leaves() const { return static_cast<unsigned>(levels_.size()); }
  /// Hands level j over; its memory is the caller's.
  [[nodiscard]] FractionLevel take_level(unsigned j) { return std::move(levels_[j]); }

 private:
  std::vector<FractionLevel> levels_;
  Fraction root_;
};

/// Levels from this height above the leaves on are kept for integer columns. The lower ones, fifteen sixteenths of the
/// tree, are computed again from the leaves: the level below it at once, those below that run by run whenever they are
/// read.
inline constexpr unsigned kept_height = 5;
/// Levels from this height above the leaves on are kept for fractions, which tables have: they are few, but the whole
/// of their tree is as long as they are.
inline constexpr unsigned kept_height_of_fractions = 3;

/// Some nodes (a multiple of 8) of a segment of integers, at `height` 2 or 3, into `out`; `scratch` has room for twice
/// as many.
void derive_nodes(const LeafIntegers& segment, const LeafCode& code, unsigned height, Range nodes, ChildrenBlock* out,
                  ChildrenBlock* scratch);

/// The lowest level's nodes first .. first + count - 1 of a table's segment.
void pair_table_rows(const LookupInput& input, const Segment& segment, unsigned log_leaves, std::size_t first,
                     std::size_t count, ChildrenBlock* out);

/// All nodes of an integer segment class at `height` 2 to 5, at least one a segment, from the leaves.
BlockBuffer<ChildrenBlock> compute_level(const LookupInput& input, const SegmentClass& segments, unsigned height);

/// All nodes of a segment class of kind `fractions` at `height`, from the leaves; log_leaves >= height >= 1.
BlockBuffer<ChildrenBlock> compute_fractions(const LookupInput& input, const SegmentClass& segments, unsigned height);

/// Blocks for `nodes` nodes, a multiple of four blocks, as far as kernels read; places behind the last node are zero,
/// others uninitialised: threads that write them touch them first.
template <class Block = ChildrenBlock>
BlockBuffer<Block> allocate_nodes(std::size_t nodes) {
  constexpr std::size_t unit = 4;
  const std::size_t blocks = (nodes + unit * block_lanes - 1) / (unit * block_lanes) * unit;
  BlockBuffer<Block> buffer(blocks);
  const std::size_t full = nodes / block_lanes;
  std::memset(buffer.data() + full, 0, (blocks - full) * sizeof(Block));
  return buffer;
}

}  // namespace tessera
