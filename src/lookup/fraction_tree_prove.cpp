#include <algorithm>
#include "lookup/fraction_tree.hpp"
#include "base/shares.hpp"

namespace tessera {
namespace {

/// Nodes that one thread computes at a time.
constexpr std::size_t run_nodes = 1024;
/// The highest level that derive_nodes() gives.
constexpr unsigned derived_height = 3;

/// A table's leaves are its rows.
Fraction table_leaf(const LookupInput& input, std::size_t table, const LeafCode& code, std::size_t row) {
  const std::vector<std::int64_t>& values = input.structure.tables[table].values;
  const E value = values.empty() ? E::zero() : code.lambda * F::from_signed(values[row]);
  return {-E::from_signed(input.multiplicities[table][row]), code.shift - F::from_unsigned(row) - value};
}

/// Numerators and denominators of a segment of kind `fractions`.
std::vector<Fraction> leaf_fractions(const LookupInput& input, const Segment& segment, unsigned log_leaves) {
  const std::size_t size = std::size_t{1} << log_leaves;
  std::vector<Fraction> leaves(size);
  if (segment.is_table) {
    const LeafCode code = input.code(segment.source);
    for (std::size_t i = 0; i < size; ++i) {
      leaves[i] = table_leaf(input, segment.source, code, (segment.part << log_leaves) + i);
    }
    return leaves;
  }
  const std::size_t table = input.structure.columns[segment.source].table;
  const LeafCode code = input.code(table);
  std::vector<std::uint32_t> a(size);
  std::vector<std::int32_t> b(input.has_pairs(table) ? size : 0);
  read_segment(input, segment, log_leaves, a, b);
  for (std::size_t i = 0; i < size; ++i) {
    const E value = b.empty() ? E::zero() : code.lambda * F::from_signed(b[i]);
    leaves[i] = {E::one(), code.shift - F::from_unsigned(a[i]) - value};
  }
  return leaves;
}

/// The lowest level's nodes of a class of kind `fractions` with at least two leaves a segment.
BlockBuffer<ChildrenBlock> pair_leaves(const LookupInput& input, const SegmentClass& segments) {
  const std::size_t length = std::size_t{1} << (segments.log_leaves - 1);
  BlockBuffer<ChildrenBlock> nodes = allocate_nodes(segments.segments.size() * length);
  // segments shorter than a block share it, but each writes its own lanes
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < segments.segments.size(); ++i) {
    const std::vector<Fraction> leaves = leaf_fractions(input, segments.segments[i], segments.log_leaves);
    for (std::size_t x = 0; x < length; ++x) {
      const Fraction& even = leaves[2 * x];
      const Fraction& odd = leaves[2 * x + 1];
      store_children(nodes.data(), i * length + x, {even.p, odd.p, even.q, odd.q});
    }
  }
  return nodes;
}

/// Memory in which a thread computes nodes of integers, at most `run` at a time, a multiple of 8.
class RunOfNodes {
 public:
  explicit RunOfNodes(std::size_t run) : below_(allocate_nodes(4 * run)), scratch_(allocate_nodes(8 * run)) {
    std::memset(below_.data(), 0, 2 * sizeof(ChildrenBlock));
  }

  /// A segment's nodes at `height` 2 to 5 into `out`.
  void compute(const LeafIntegers& leaves, const LeafCode& code, unsigned height, Range nodes, ChildrenBlock* out) {
    if (height <= derived_height) {
      derive_nodes(leaves, code, height, nodes, out, scratch_.data());
      return;
    }
    const unsigned above = height - derived_height;
    derive_nodes(leaves, code, derived_height, {nodes.first << above, nodes.last << above}, below_.data(),
                 scratch_.data());
    for (std::size_t count = nodes.size() << (above - 1); count > nodes.size(); count /= 2) {
      combine_children(below_.data(), below_.data(), count);  // a block is read before it is written
    }
    combine_children(below_.data(), out, nodes.size());
  }

  /// All nodes of a segment that has `count` at `height`, less than a block.
  const ChildrenBlock* compute_few(const LeafIntegers& leaves, const LeafCode& code, unsigned height,
                                   std::size_t count) {
    const unsigned missing = ceil_log2(block_lanes / count);  // levels down to where it has a block
    compute(leaves, code, height - missing, {0, block_lanes}, below_.data());
    for (unsigned level = 0; level < missing; ++level) {
      combine_children(below_.data(), below_.data(), block_lanes);  // what is behind the nodes comes to nothing
    }
    return below_.data();
  }

 private:
  BlockBuffer<ChildrenBlock> below_, scratch_;
};

BlockBuffer<ChildrenBlock> combine_level(const BlockBuffer<ChildrenBlock>& below, std::size_t nodes) {
  BlockBuffer<ChildrenBlock> result = allocate_nodes(nodes);
  const std::size_t padded = (nodes + block_lanes - 1) / block_lanes * block_lanes;
#pragma omp parallel for schedule(dynamic, share_of(padded / run_nodes))
  for (std::size_t first = 0; first < padded; first += run_nodes) {
    combine_children(below.data() + 2 * first / block_lanes, result.data() + first / block_lanes,
                     std::min(run_nodes, padded - first));
  }
  return result;
}

/// Leaves that are segments of their own (chunks of one value), by index; of the rank whose nodes they are.
RawVector<SparseFraction> single_leaves(const LookupInput& input, const std::vector<SegmentClass>& classes,
                                        Communicator& comm) {
  std::vector<SparseFraction> leaves;
  for (const SegmentClass& segments : classes) {
    if (segments.log_leaves == 0) {
      for (const Segment& segment : segments.segments) {
        leaves.push_back({segment.place, leaf_fractions(input, segment, 0).front()});
      }
    }
  }
  leaves = comm.all_gather<SparseFraction>(leaves);
  std::ranges::sort(leaves, {}, &SparseFraction::index);
  const bool own = comm.rank() == segment_owner(0, 0);
  return {leaves.begin(), own ? leaves.end() : leaves.begin()};
}

}  // namespace

void derive_nodes(const LeafIntegers& segment, const LeafCode& code, unsigned height, Range nodes, ChildrenBlock* out,
                  ChildrenBlock* scratch) {
  const LeafIntegers leaves = segment.from(nodes.first << height);
  const std::size_t count = nodes.size();
  if (height == 2) {
    combine_leaves(leaves, code, out, count);
    return;
  }
  combine_leaves(leaves, code, scratch, 2 * count);
  combine_children(scratch, out, count);
}

void pair_table_rows(const LookupInput& input, const Segment& segment, unsigned log_leaves, std::size_t first,
                     std::size_t count, ChildrenBlock* out) {
  const LeafCode code = input.code(segment.source);
  std::size_t row = (segment.part << log_leaves) + 2 * first;
  for (std::size_t i = 0; i < count; ++i, row += 2) {
    const Fraction even = table_leaf(input, segment.source, code, row);
    const Fraction odd = table_leaf(input, segment.source, code, row + 1);
    store_children(out, i, {even.p, odd.p, even.q, odd.q});
  }
}

BlockBuffer<ChildrenBlock> compute_level(const LookupInput& input, const SegmentClass& segments, unsigned height) {
  const std::size_t length = std::size_t{1} << (segments.log_leaves - height);
  const std::size_t run = std::clamp<std::size_t>(length, block_lanes, run_nodes / 8);
  BlockBuffer<ChildrenBlock> nodes = allocate_nodes(segments.segments.size() * length);
  const std::size_t runs = std::max<std::size_t>(1, length / run);
#pragma omp parallel
  {
    RunOfNodes of_run(run);
#pragma omp for schedule(dynamic, share_of(segments.segments.size() * runs))
    for (std::size_t unit = 0; unit < segments.segments.size() * runs; ++unit) {
      const std::size_t i = unit / runs;
      const std::size_t first = (unit % runs) * run;
      const LeafCode code = input.code(input.structure.columns[segments.segments[i].source].table);
      if (length >= run) {
        of_run.compute(segments.leaves[i], code, height, {first, first + run},
                       nodes.data() + (i * length + first) / block_lanes);
        continue;
      }
      // several segments share a block, but each writes its own lanes
      const ChildrenBlock* const found = of_run.compute_few(segments.leaves[i], code, height, length);
      for (std::size_t x = 0; x < length; ++x) {
        store_children(nodes.data(), i * length + x, load_children(found, x));
      }
    }
  }
  return nodes;
}

BlockBuffer<ChildrenBlock> compute_fractions(const LookupInput& input, const SegmentClass& segments, unsigned height) {
  BlockBuffer<ChildrenBlock> nodes = pair_leaves(input, segments);
  for (unsigned h = 2; h <= height; ++h) {
    nodes = combine_level(nodes, segments.segments.size() << (segments.log_leaves - h));
  }
  return nodes;
}

FractionTree::FractionTree(const LookupInput& input, const std::vector<SegmentClass>& classes, const NodeOwners& owners,
                           Communicator& comm)
    : levels_(input.structure.slots().log_leaves) {
  const unsigned leaf_level = log_leaves();
  RawVector<SparseFraction> own = single_leaves(input, classes, comm);
  RawVector<SparseFraction> shared;
  for (unsigned j = leaf_level; j-- > 0;) {
    FractionLevel& level = levels_[j];
    level.nodes.resize(classes.size());
    level.sparse = {pair_up(own), pair_up(shared)};
    const unsigned height = leaf_level - j;
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const SegmentClass& segments = classes[k];
      const bool derived = segments.kind != LeafKind::fractions;
      if (segments.log_leaves < height || (derived && height < kept_height)) {
        continue;
      }
      const std::size_t count = segments.segments.size();
      level.nodes[k] = height == 1 ? pair_leaves(input, segments)
                       : derived && height == kept_height
                           ? compute_level(input, segments, height)
                           : combine_level(levels_[j + 1].nodes[k], count << (segments.log_leaves - height));
      if (segments.log_leaves == height) {
        const ChildrenBlock* const nodes = level.nodes[k].data();
        level.sparse.add(segments, [&](std::size_t i) { return load_children(nodes, i); });
        level.nodes[k] = {};
      }
      if (!derived && height > 1 && height <= kept_height_of_fractions) {
        levels_[j + 1].nodes[k] = {};
      }
    }
    level.sparse.move(owners, height, comm);
    own = combined(level.sparse.own);
    shared = combined(level.sparse.shared);
  }
  root_ = shared.empty() ? Fraction{} : shared.front().value;
}

}  // namespace tessera
