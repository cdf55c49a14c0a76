#include <utility>

#include "lookup/sum_runs.hpp"

namespace tessera {
namespace {

E on_line(E low, E high, E challenge) { return low + challenge * (high - low); }

}  // namespace

std::vector<E> segment_weights(const LayerContext& layer, const SegmentClass& segments, std::size_t outer) {
  std::vector<E> weights;
  for (const Segment& segment : segments.segments) {
    weights.push_back(layer.eq(outer, segment.place));
  }
  return weights;
}

SegmentRounds::SegmentRounds(const LayerContext& layer, std::vector<E> weights, std::size_t outer, unsigned log_length)
    : layer_(layer), weights_(std::move(weights)), outer_(outer), log_length_(log_length) {
  for (const E& weight : weights_) {
    total_weight_ += weight;
  }
}

namespace {

class NodeRounds final : public BoundRounds {
 public:
  NodeRounds(const LayerContext& layer, std::vector<E> weights, BlockBuffer<ChildrenBlock> nodes, std::size_t outer,
             unsigned log_length)
      : BoundRounds(layer, std::move(weights), outer, log_length), nodes_(std::move(nodes)), place_(log_length) {}

  NodeSums first() override {
    ChildrenBlock* nodes = nodes_.data();
    if (log_length_ >= least_kernel_bits) {
      return without_tau(sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
        return first_round(nodes + place_(segment, 2 * pair) / block_lanes, eq, layer_.tau, pairs);
      }));
    }
    for (std::size_t x = 0; x < weights_.size() << log_length_; ++x) {
      Children children = load_children(nodes, x);
      children.p1 += layer_.tau * children.q1;
      store_children(nodes, x, children);
    }
    return short_sums();
  }

  NodeSums bind(E challenge) override {
    const NodePlaces from = place_;
    --log_length_;
    if (log_length_ < least_kernel_bits) {
      place_.bind();
      for (std::size_t segment = 0; segment < weights_.size(); ++segment) {
        for (std::size_t x = 0; x >> log_length_ == 0; ++x) {
          const Children low = load_children(nodes_.data(), from(segment, 2 * x));
          const Children high = load_children(nodes_.data(), from(segment, 2 * x + 1));
          store_children(nodes_.data(), place_(segment, x),
                         {on_line(low.p0, high.p0, challenge), on_line(low.p1, high.p1, challenge),
                          on_line(low.q0, high.q0, challenge), on_line(low.q1, high.q1, challenge)});
        }
      }
      return log_length_ == 0 ? NodeSums{} : short_sums();
    }
    BlockBuffer<ChildrenBlock> compact;
    if (from.can_bind()) {
      place_.bind();
    } else {
      place_ = NodePlaces(log_length_);
      compact = allocate_nodes(weights_.size() << log_length_);
    }
    ChildrenBlock* const out = compact.empty() ? nodes_.data() : compact.data();
    const NodeSums sums = without_tau(sum_runs(
        [&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
          return bind_round(nodes_.data() + from(segment, 4 * pair) / block_lanes,
                            out + place_(segment, 2 * pair) / block_lanes, eq, challenge, 2 * pairs);
        },
        place_.runs()));
    if (!compact.empty()) {
      nodes_ = std::move(compact);
    }
    return sums;
  }

  [[nodiscard]] Children node(std::size_t segment) const override {
    Children children = load_children(nodes_.data(), place_(segment, 0));
    children.p1 -= layer_.tau * children.q1;
    return children;
  }

  [[nodiscard]] NodeSums short_sums() const override {
    const std::vector<E> eq = eq_table(pair_point());
    NodeSums sums;
    for (std::size_t segment = 0; segment < weights_.size(); ++segment) {
      for (std::size_t i = 0; i < eq.size(); ++i) {
        const Children low = load_children(nodes_.data(), place_(segment, 2 * i));
        const Children high = load_children(nodes_.data(), place_(segment, 2 * i + 1));
        const E weight = weights_[segment] * eq[i];
        sums.at_zero += weight * (low.q0 * low.p1 + low.p0 * low.q1);
        sums.leading += weight * ((high.q0 - low.q0) * (high.p1 - low.p1) + (high.p0 - low.p0) * (high.q1 - low.q1));
      }
    }
    return without_tau(sums);
  }

 private:
  [[nodiscard]] NodeSums without_tau(NodeSums sums) const {
    sums.at_zero -= layer_.tau * total_weight_;
    return sums;
  }

  BlockBuffer<ChildrenBlock> nodes_;
  NodePlaces place_;
};

/// Nodes of an integer class that the tree does not keep: computed run by run until a variable is bound.
class DerivedRounds final : public SegmentRounds {
 public:
  DerivedRounds(const LayerContext& layer, const LookupInput& input, const SegmentClass& segments, std::size_t outer,
                unsigned log_length)
      : SegmentRounds(layer, segment_weights(layer, segments, outer), outer, log_length),
        segments_(segments),
        height_(segments.log_leaves - log_length) {
    for (const Segment& segment : segments.segments) {
      codes_.push_back(input.code(input.structure.columns[segment.source].table));
    }
  }

  NodeSums first() override {
    return without_tau(sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
      return first_round(derived(segment, 2 * pair, 2 * pairs), eq, layer_.tau, pairs);
    }));
  }

  NodeSums bind(E challenge) override {
    if (bound_ != nullptr) {
      const NodeSums sums = bound_->bind(challenge);
      log_length_ = bound_->log_length();
      return sums;
    }
    --log_length_;
    BlockBuffer<ChildrenBlock> bound = allocate_nodes(weights_.size() << log_length_);
    const NodeSums sums =
        sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
          ChildrenBlock* nodes = derived(segment, 4 * pair, 4 * pairs);
          add_tau(nodes, layer_.tau, 4 * pairs);
          const std::size_t block = ((segment << log_length_) + 2 * pair) / block_lanes;
          return bind_round(nodes, bound.data() + block, eq, challenge, 2 * pairs);
        });
    bound_ = std::make_unique<NodeRounds>(layer_, weights_, std::move(bound), outer_, log_length_);
    return without_tau(sums);
  }

  [[nodiscard]] Children node(std::size_t segment) const override { return bound_->node(segment); }

 private:
  [[nodiscard]] NodeSums without_tau(NodeSums sums) const {
    sums.at_zero -= layer_.tau * total_weight_;
    return sums;
  }
  /// Nodes of a segment in memory of this thread's.
  ChildrenBlock* derived(std::size_t segment, std::size_t first, std::size_t count) {
    constexpr std::size_t most = std::size_t{4} << log_run;
    static thread_local const BlockBuffer<ChildrenBlock> nodes = allocate_nodes(most);
    static thread_local const BlockBuffer<ChildrenBlock> scratch = allocate_nodes(2 * most);
    derive_nodes(segments_, codes_[segment], segment, height_, first, count, nodes.data(), scratch.data());
    return nodes.data();
  }

  const SegmentClass& segments_;
  unsigned height_;
  std::vector<LeafCode> codes_;
  std::unique_ptr<NodeRounds> bound_;
};

}  // namespace

std::unique_ptr<SegmentRounds> node_rounds(const LayerContext& layer, const SegmentClass& segments,
                                           BlockBuffer<ChildrenBlock> nodes, unsigned log_length) {
  const std::size_t outer = layer.at.size() - log_length;
  return std::make_unique<NodeRounds>(layer, segment_weights(layer, segments, outer), std::move(nodes), outer,
                                      log_length);
}

std::unique_ptr<SegmentRounds> derived_rounds(const LayerContext& layer, const LookupInput& input,
                                              const SegmentClass& segments, unsigned log_length) {
  return std::make_unique<DerivedRounds>(layer, input, segments, layer.at.size() - log_length, log_length);
}

std::unique_ptr<BoundRounds> bound_rounds(const LayerContext& layer, std::vector<E> weights,
                                          BlockBuffer<ChildrenBlock> nodes, std::size_t outer, unsigned log_length) {
  return std::make_unique<NodeRounds>(layer, std::move(weights), std::move(nodes), outer, log_length);
}

}  // namespace tessera
