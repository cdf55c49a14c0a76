#include "lookup/level_rounds.hpp"

#include <algorithm>
#include <cstring>

#include "lookup/flat_nodes.hpp"
#include "base/shares.hpp"

namespace tessera {
namespace {

/// Pairs that one thread sums at a time, with one table of eq for their low bits.
constexpr unsigned log_run = 7;
/// Segments shorter than 2^this nodes are too short for a run of their own: they are one row of nodes (FlatNodes).
/// Such rows are stored before a variable is bound: a larger number would take more memory than the tree did.
constexpr unsigned least_kernel_bits = 6;
static_assert(least_kernel_bits <= log_run, "tables of one run and less are stored");
/// Segments of leaves stay runs longer: of their nodes denominators are enough.
constexpr unsigned least_leaf_bits = 4;

/// Where the nodes of equally long segments lie while variables are bound in place. A block of nodes shrinks where it
/// stands, so threads that work on different blocks need no second buffer; fresh pages would cost more than binding.
class NodePlaces {
 public:
  explicit NodePlaces(unsigned log_length) : log_segment_(log_length), log_block_(std::min(log_length, most_bits)) {}
  [[nodiscard]] std::size_t operator()(std::size_t segment, std::size_t node) const {
    return (segment << log_segment_) + (node >> log_block_ << (log_block_ + bound_)) +
           (node & ((std::size_t{1} << log_block_) - 1));
  }
  /// Whether the nodes that a run of the next round but one binds would still lie side by side.
  [[nodiscard]] bool can_bind() const { return log_block_ > log_run + 2 || log_block_ + bound_ == log_segment_; }
  void bind() {
    --log_block_;
    ++bound_;
  }
  /// Whether segments follow each other without gaps.
  [[nodiscard]] bool are_flat() const { return bound_ == 0; }
  /// Runs of a block: one thread takes them in order.
  [[nodiscard]] std::size_t runs() const { return log_block_ > log_run + 1 ? 1UL << (log_block_ - log_run - 1) : 1; }

 private:
  static constexpr unsigned most_bits = 12;
  unsigned log_segment_;
  unsigned log_block_;  // now
  unsigned bound_ = 0;  // variables bound in place
};

/// Variables that are bound before the nodes of a level are stored, one or two: until then they would take more memory
/// than the whole tree did.
constexpr unsigned bound_unstored(LeafKind kind, unsigned height) {
  return kind != LeafKind::fractions && height <= 2 ? 2 : 1;
}

/// Nodes, p1 replaced by s = p1 + tau*q1 from the first round on. Those that the tree has not kept of integer columns
/// and the lowest of tables are computed run by run until some variables are bound.
class NodeRounds : public SegmentRounds {
 public:
  NodeRounds(const LevelContext& level, const LookupInput& input, const SegmentClass& segments,
             BlockBuffer<ChildrenBlock> nodes, unsigned height)
      : SegmentRounds(segments.log_leaves - height),
        level_(level),
        input_(input),
        segments_(segments),
        outer_(level.at.size() - log_length_),
        place_(log_length_),
        height_(height),
        nodes_(std::move(nodes)) {
    for (const Segment& segment : segments.segments) {
      weights_.push_back(level.eq(outer_, segment.place));
      total_weight_ += weights_.back();
      if (segments.kind != LeafKind::fractions) {
        codes_.push_back(input.code(input.structure.columns[segment.source].table));
      }
    }
    // too short to be bound unstored, or worth it
    const bool stored = log_length_ < least_kernel_bits + bound_unstored(segments.kind, height);
    if (height > 1 && height < kept_height && segments.kind != LeafKind::fractions &&
        (stored || height + 1 == kept_height)) {
      nodes_ = compute_level(input, segments, height);
    }
    const bool pairs_of_rows = height == 1 && log_length_ > log_run && !segments.segments.empty() &&
                               std::ranges::all_of(segments.segments, &Segment::is_table);
    if (height < kept_height_of_fractions && segments.kind == LeafKind::fractions && !pairs_of_rows) {
      nodes_ = compute_fractions(input, segments, height);
    }
  }

  NodeSums first() override {
    if (log_length_ >= least_kernel_bits) {
      return without_tau(sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
        ChildrenBlock* const nodes = nodes_.empty() ? derived(segment, 2 * pair, 2 * pairs)
                                                    : nodes_.data() + place_(segment, 2 * pair) / block_lanes;
        return first_round(nodes, eq, level_.tau, pairs);
      }));
    }
    flatten();
    return without_tau(flat_.first(weights_, eq_table(pair_point()), level_.tau));
  }

  NodeSums bind(E challenge) override {
    const NodePlaces from = place_;
    if (log_length_ <= least_kernel_bits) {
      flatten();
      return bind_flat(challenge);
    }
    --log_length_;
    if (!nodes_.empty()) {
      return without_tau(bind_blocks(nodes_, [&](std::size_t segment, std::size_t pair, std::size_t pairs,
                                                 const WeightBlock* eq, ChildrenBlock* out) {
        return bind_round(nodes_.data() + from(segment, 4 * pair) / block_lanes, out, eq, challenge, 2 * pairs);
      }));
    }
    const auto bind_derived = [&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq,
                                  ChildrenBlock* out) {
      ChildrenBlock* const nodes = bound_nodes(segment, 4 * pair, 4 * pairs);
      return bind_round(nodes, out != nullptr ? out : nodes, eq, challenge, 2 * pairs);
    };
    if (bound_.size() + 1 == bound_unstored(segments_.kind, height_)) {
      return without_tau(bind_blocks(nodes_, bind_derived));
    }
    const NodeSums sums =
        sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
          return bind_derived(segment, pair, pairs, eq, nullptr);
        });
    bound_.push_back(challenge);
    return without_tau(sums);
  }

  [[nodiscard]] Children node(std::size_t segment) const override {
    Children children = flat_.node(segment);
    children.p1 -= level_.tau * children.q1;
    return children;
  }

 protected:
  /// sum of weights times kernel(segment, first pair, pairs, eq weights): runs of pairs of all segments. One thread
  /// takes `together` consecutive runs of a segment, in order.
  template <class Kernel>
  NodeSums sum_runs(const Kernel& kernel, std::size_t together = 1) const {
    const std::span<const E> point = pair_point();
    const std::size_t low_bits = std::min<std::size_t>(point.size(), log_run);
    const std::vector<E> high = eq_table(point.first(point.size() - low_bits));
    const std::vector<E> low = eq_table(point.last(low_bits));
    std::vector<WeightBlock> blocks((low.size() + block_lanes - 1) / block_lanes);
    for (std::size_t i = 0; i < low.size(); ++i) {
      store_weight(blocks.data(), i, low[i]);
    }
    NodeSums total;
#pragma omp parallel if (weights_.size() * high.size() > least_parallel_runs)
    {
      NodeSums mine;
#pragma omp for schedule(dynamic, share_of(weights_.size() * high.size() / together)) nowait
      for (std::size_t first = 0; first < weights_.size() * high.size(); first += together) {
        for (std::size_t unit = first; unit < first + together; ++unit) {
          const std::size_t segment = unit / high.size();
          const std::size_t run = unit % high.size();
          const NodeSums sums = kernel(segment, run << low_bits, low.size(), blocks.data());
          const E weight = weights_[segment] * high[run];
          mine.at_zero += weight * sums.at_zero;
          mine.leading += weight * sums.leading;
        }
      }
#pragma omp critical(tessera_lookup_sums)
      total += mine;
    }
    return total;
  }

  /// A round that binds: sum_runs of kernel(.., out), which writes 2*pairs nodes to `out`. They take the place of
  /// `blocks` where that is possible.
  template <class Block, class Kernel>
  NodeSums bind_blocks(BlockBuffer<Block>& blocks, const Kernel& kernel) {
    BlockBuffer<Block> fresh;
    if (!blocks.empty() && place_.can_bind()) {
      place_.bind();
    } else {
      place_ = NodePlaces(log_length_);
      fresh = allocate_nodes<Block>(weights_.size() << log_length_);
    }
    Block* const out = fresh.empty() ? blocks.data() : fresh.data();
    const NodeSums sums = sum_runs(
        [&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
          return kernel(segment, pair, pairs, eq, out + place_(segment, 2 * pair) / block_lanes);
        },
        place_.runs());
    if (!fresh.empty()) {
      blocks = std::move(fresh);
    }
    return sums;
  }

  /// Binds a variable of short segments, then sums; log_length_ is still that before.
  NodeSums bind_flat(E challenge) {
    --log_length_;
    if (log_length_ == 0) {
      flat_.end(challenge);
      return {};
    }
    return without_tau(flat_.bind(weights_, eq_table(pair_point()), challenge));
  }
  void set_flat(BlockBuffer<ChildrenBlock> nodes) { flat_ = {std::move(nodes), weights_.size() << log_length_}; }
  /// The sums of short segments whose nodes have s already.
  NodeSums flat_sums() { return without_tau(flat_.first(weights_, eq_table(pair_point()), E::zero())); }

  const LevelContext& level_;
  const LookupInput& input_;
  const SegmentClass& segments_;
  std::size_t outer_;       // variables outside the segments
  std::vector<E> weights_;  // beta of every segment's place
  E total_weight_;
  std::vector<LeafCode> codes_;  // of integer columns
  NodePlaces place_;

 private:
  /// Segments are short from now on: their nodes become one row, from wherever they lie.
  void flatten() {
    if (!flat_.empty() || weights_.empty()) {
      return;
    }
    if (!place_.are_flat()) {
      const std::size_t length = std::size_t{1} << log_length_;  // whole blocks, side by side
      BlockBuffer<ChildrenBlock> row = allocate_nodes(weights_.size() * length);
#pragma omp parallel for schedule(static) if (weights_.size() > least_parallel_runs)
      for (std::size_t segment = 0; segment < weights_.size(); ++segment) {
        std::memcpy(row.data() + segment * length / block_lanes, nodes_.data() + place_(segment, 0) / block_lanes,
                    length / block_lanes * sizeof(ChildrenBlock));
      }
      nodes_ = std::move(row);
    }
    set_flat(std::move(nodes_));
  }
  /// The coordinates of the pairs inside a segment in this round.
  [[nodiscard]] std::span<const E> pair_point() const { return level_.at.subspan(outer_, log_length_ - 1); }
  [[nodiscard]] NodeSums without_tau(NodeSums sums) const {
    sums.at_zero -= level_.tau * total_weight_;
    return sums;
  }
  /// Nodes of a segment as the tree has them, computed in memory of this thread's.
  ChildrenBlock* derived(std::size_t segment, std::size_t first, std::size_t count) const {
    constexpr std::size_t most = std::size_t{8} << log_run;
    static thread_local const BlockBuffer<ChildrenBlock> nodes = allocate_nodes(most);
    static thread_local const BlockBuffer<ChildrenBlock> scratch = allocate_nodes(most);
    if (segments_.kind == LeafKind::fractions) {
      pair_table_rows(input_, segments_.segments[segment], segments_.log_leaves, first, count, nodes.data());
    } else {
      derive_nodes(segments_.leaves[segment], codes_[segment], height_, {first, first + count}, nodes.data(),
                   scratch.data());
    }
    return nodes.data();
  }
  /// Nodes of a segment as by derived(), with s = p1 + tau*q1 in place of p1, after the variables in `bound_` are
  /// bound.
  ChildrenBlock* bound_nodes(std::size_t segment, std::size_t first, std::size_t count) const {
    std::size_t total = count << bound_.size();
    ChildrenBlock* const nodes = derived(segment, first << bound_.size(), total);
    add_tau(nodes, level_.tau, total);
    for (const E challenge : bound_) {
      total /= 2;
      bind_children(nodes, nodes, challenge, total);
    }
    return nodes;
  }

  unsigned height_;
  std::vector<E> bound_;  // variables bound before nodes are stored
  FlatNodes flat_;        // once segments are short

 protected:
  BlockBuffer<ChildrenBlock> nodes_;  // empty: not kept
};

/// Integer columns in the leaf level. Numerators are 1 as long as nodes lie inside a segment, so g = q0 + q1 +
/// tau*q0*q1 = tau*(q0 + k)*(q1 + k) - k with k = 1/tau: these rounds carry q0 + k and q1 + k only. Segments too short
/// for the kernels go on as ordinary nodes.
class LeafRounds final : public NodeRounds {
 public:
  LeafRounds(const LevelContext& level, const LookupInput& input, const SegmentClass& segments)
      : NodeRounds(level, input, segments, {}, 1), shift_(level.tau.inverse()) {
    for (LeafCode& code : codes_) {
      code.shift += shift_;
    }
  }

  NodeSums first() override {
    return scaled(sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
      return leaf_first_round(segments_.leaves[segment].from(4 * pair), codes_[segment], eq, pairs);
    }));
  }

  NodeSums bind(E challenge) override {
    if (log_length_ < least_leaf_bits) {
      return NodeRounds::bind(challenge);
    }
    const NodePlaces from = place_;
    --log_length_;
    if (log_length_ < least_leaf_bits) {
      bind_to_nodes(challenge);
      return flat_sums();
    }
    if (!is_bound_) {
      is_bound_ = true;
      first_challenge_ = challenge;
      if (log_length_ == least_leaf_bits) {  // the next time there are ordinary nodes
        return scaled(bind_blocks(denominators_, [&](std::size_t segment, std::size_t pair, std::size_t pairs,
                                                     const WeightBlock* eq, DenominatorsBlock* out) {
          return leaf_bind_round(segments_.leaves[segment].from(8 * pair), codes_[segment], out, eq, challenge,
                                 2 * pairs);
        }));
      }
      return scaled(sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
        return leaf_bind_round(segments_.leaves[segment].from(8 * pair), codes_[segment], run_of_denominators(), eq,
                               challenge, 2 * pairs);
      }));
    }
    const bool stored = !denominators_.empty();
    return scaled(bind_blocks(denominators_, [&](std::size_t segment, std::size_t pair, std::size_t pairs,
                                                 const WeightBlock* eq, DenominatorsBlock* out) {
      if (stored) {
        return denominators_bind_round(denominators_.data() + from(segment, 4 * pair) / block_lanes, out, eq, challenge,
                                       2 * pairs);
      }
      DenominatorsBlock* const once = run_of_denominators();
      leaf_bind(segments_.leaves[segment].from(16 * pair), codes_[segment], once, first_challenge_, 4 * pairs);
      return denominators_bind_round(once, out, eq, challenge, 2 * pairs);
    }));
  }

 private:
  [[nodiscard]] NodeSums scaled(const NodeSums& sums) const {
    return {level_.tau * sums.at_zero - (shift_ + level_.tau) * total_weight_, level_.tau * sums.leading};
  }

  /// Whole blocks of nodes: least_leaf_bits is one more than a block's.
  void bind_to_nodes(E challenge) {
    BlockBuffer<ChildrenBlock> nodes = allocate_nodes(weights_.size() << log_length_);
#pragma omp parallel for schedule(static) if (weights_.size() > least_parallel_runs)
    for (std::size_t segment = 0; segment < weights_.size(); ++segment) {
      denominators_to_nodes(denominators_.data() + place_(segment, 0) / block_lanes,
                            nodes.data() + (segment << log_length_) / block_lanes, challenge, shift_, level_.tau,
                            std::size_t{1} << log_length_);
    }
    set_flat(std::move(nodes));
    denominators_ = {};
  }

  /// Memory of this thread's for a run's nodes before they are stored.
  static DenominatorsBlock* run_of_denominators() {
    static thread_local const BlockBuffer<DenominatorsBlock> run((std::size_t{4} << log_run) / block_lanes);
    return run.data();
  }

  E shift_;
  bool is_bound_ = false;
  E first_challenge_;  // of the variable that is bound before anything is stored
  BlockBuffer<DenominatorsBlock> denominators_;
};

}  // namespace

std::unique_ptr<SegmentRounds> segment_rounds(const LevelContext& level, const LookupInput& input,
                                              const SegmentClass& segments, BlockBuffer<ChildrenBlock> nodes,
                                              unsigned height) {
  if (height == 1 && segments.kind != LeafKind::fractions) {
    return std::make_unique<LeafRounds>(level, input, segments);
  }
  return std::make_unique<NodeRounds>(level, input, segments, std::move(nodes), height);
}

}  // namespace tessera
