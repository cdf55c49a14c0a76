#include "lookup/layer_rounds.hpp"

#include "lookup/sum_runs.hpp"

namespace tessera {
namespace {

E on_line(E low, E high, E challenge) { return low + challenge * (high - low); }

/// Numerators are 1 as long as nodes lie inside a segment, so g = q0 + q1 + tau*q0*q1 = tau*(q0 + k)*(q1 + k) - k with
/// k = 1/tau: these rounds carry q0 + k and q1 + k only.
class LeafRounds final : public SegmentRounds {
 public:
  LeafRounds(const LayerContext& layer, const LookupInput& input, const SegmentClass& segments)
      : LeafRounds(layer, input, segments, layer.at.size() + 1 - segments.log_leaves) {}

  NodeSums first() override {
    return scaled(sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
      return leaf_first_round(segments_.leaves(segment).from(4 * pair), codes_[segment], eq, pairs);
    }));
  }

  NodeSums bind(E challenge) override {
    if (short_ != nullptr) {
      const NodeSums sums = short_->bind(challenge);
      log_length_ = short_->log_length();
      return sums;
    }
    --log_length_;
    if (log_length_ < least_kernel_bits) {
      return bind_to_nodes(challenge);
    }
    const NodePlaces from = place_;
    BlockBuffer<DenominatorsBlock> fresh;
    if (!denominators_.empty() && from.can_bind()) {
      place_.bind();
    } else {
      place_ = NodePlaces(log_length_);
      fresh = BlockBuffer<DenominatorsBlock>((weights_.size() << log_length_) / block_lanes);
    }
    DenominatorsBlock* const out = fresh.empty() ? denominators_.data() : fresh.data();
    const NodeSums sums = sum_runs(
        [&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
          const std::size_t node = 2 * pair;
          DenominatorsBlock* const bound = out + place_(segment, node) / block_lanes;
          return denominators_.empty()
                     ? leaf_bind_round(segments_.leaves(segment).from(4 * node), codes_[segment], bound, eq, challenge,
                                       2 * pairs)
                     : denominators_bind_round(denominators_.data() + from(segment, 2 * node) / block_lanes, bound, eq,
                                               challenge, 2 * pairs);
        },
        place_.runs());
    if (!fresh.empty()) {
      denominators_ = std::move(fresh);
    }
    return scaled(sums);
  }

  [[nodiscard]] Children node(std::size_t segment) const override { return short_->node(segment); }

 private:
  LeafRounds(const LayerContext& layer, const LookupInput& input, const SegmentClass& segments, std::size_t outer)
      : SegmentRounds(layer, segment_weights(layer, segments, outer), outer, segments.log_leaves - 1),
        segments_(segments),
        shift_(layer.tau.inverse()) {
    for (const Segment& segment : segments.segments) {
      codes_.push_back(input.code(input.structure.columns[segment.source].table));
      codes_.back().shift += shift_;
    }
  }

  [[nodiscard]] NodeSums scaled(const NodeSums& sums) const {
    return {layer_.tau * sums.at_zero - (shift_ + layer_.tau) * total_weight_, layer_.tau * sums.leading};
  }

  /// Segments too short for the kernels go on as ordinary nodes.
  NodeSums bind_to_nodes(E challenge) {
    BlockBuffer<ChildrenBlock> nodes = allocate_nodes(weights_.size() << log_length_);
    for (std::size_t segment = 0; segment < weights_.size(); ++segment) {
      for (std::size_t x = 0; x >> log_length_ == 0; ++x) {
        const Denominators low = load_denominators(denominators_.data(), place_(segment, 2 * x));
        const Denominators high = load_denominators(denominators_.data(), place_(segment, 2 * x + 1));
        const E q0 = on_line(low.q0, high.q0, challenge) - shift_;
        const E q1 = on_line(low.q1, high.q1, challenge) - shift_;
        store_children(nodes.data(), (segment << log_length_) + x, {E::one(), E::one() + layer_.tau * q1, q0, q1});
      }
    }
    denominators_ = {};
    short_ = bound_rounds(layer_, weights_, std::move(nodes), outer_, log_length_);
    return short_->short_sums();
  }

  const SegmentClass& segments_;
  E shift_;
  std::vector<LeafCode> codes_;
  BlockBuffer<DenominatorsBlock> denominators_;
  NodePlaces place_{0};
  std::unique_ptr<BoundRounds> short_;
};

}  // namespace

std::unique_ptr<SegmentRounds> leaf_rounds(const LayerContext& layer, const LookupInput& input,
                                           const SegmentClass& segments) {
  return std::make_unique<LeafRounds>(layer, input, segments);
}

}  // namespace tessera
