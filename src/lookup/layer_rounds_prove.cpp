#include <tessera/lookup/layer_rounds.hpp>
#include <tessera/polynomial/multilinear.hpp>
#include <utility>

namespace tessera {
namespace {

/// Pairs that one thread sums at a time, with one table of eq for their low bits.
constexpr unsigned log_run = 7;
/// Segments shorter than 2^this nodes go through scalar code: pairs do not fill a block.
constexpr unsigned least_kernel_bits = 4;

E on_line(E low, E high, E challenge) { return low + challenge * (high - low); }

std::vector<E> segment_weights(const LayerContext& layer, const SegmentClass& segments, std::size_t outer) {
  std::vector<E> weights;
  for (const Segment& segment : segments.segments) {
    weights.push_back(layer.eq(outer, segment.place));
  }
  return weights;
}

}  // namespace

SegmentRounds::SegmentRounds(const LayerContext& layer, std::vector<E> weights, std::size_t outer, unsigned log_length)
    : layer_(layer), weights_(std::move(weights)), outer_(outer), log_length_(log_length) {
  for (const E& weight : weights_) {
    total_weight_ += weight;
  }
}

template <class Kernel>
RoundSums SegmentRounds::sum_runs(const Kernel& kernel) const {
  const std::span<const E> point = pair_point();
  const std::size_t low_bits = std::min<std::size_t>(point.size(), log_run);
  const std::vector<E> high = eq_table(point.first(point.size() - low_bits));
  const std::vector<E> low = eq_table(point.last(low_bits));
  std::vector<WeightBlock> blocks((low.size() + block_lanes - 1) / block_lanes);
  for (std::size_t i = 0; i < low.size(); ++i) {
    store_weight(blocks.data(), i, low[i]);
  }
  RoundSums total;
#pragma omp parallel if (weights_.size() * high.size() > 8)
  {
    RoundSums mine;
#pragma omp for schedule(static) nowait
    for (std::size_t unit = 0; unit < weights_.size() * high.size(); ++unit) {
      const std::size_t segment = unit / high.size();
      const std::size_t run = unit % high.size();
      const RoundSums sums = kernel(segment, run << low_bits, low.size(), blocks.data());
      const E weight = weights_[segment] * high[run];
      mine.at_zero += weight * sums.at_zero;
      mine.leading += weight * sums.leading;
    }
#pragma omp critical(tessera_lookup_sums)
    {
      total.at_zero += mine.at_zero;
      total.leading += mine.leading;
    }
  }
  return total;
}

namespace {

class NodeRounds final : public SegmentRounds {
 public:
  NodeRounds(const LayerContext& layer, std::vector<E> weights, BlockBuffer<ChildrenBlock> nodes, std::size_t outer,
             unsigned log_length)
      : SegmentRounds(layer, std::move(weights), outer, log_length), nodes_(std::move(nodes)) {}

  RoundSums first() override {
    ChildrenBlock* nodes = nodes_.data();
    if (log_length_ >= least_kernel_bits) {
      return without_tau(sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
        const std::size_t node = (segment << log_length_) + 2 * pair;
        return first_round(nodes + node / block_lanes, eq, layer_.tau, pairs);
      }));
    }
    for (std::size_t x = 0; x < weights_.size() << log_length_; ++x) {
      Children children = load_children(nodes, x);
      children.p1 += layer_.tau * children.q1;
      store_children(nodes, x, children);
    }
    return short_sums();
  }

  RoundSums bind(E challenge) override {
    --log_length_;
    // the two buffers take turns: fresh pages cost more than the arithmetic saves
    BlockBuffer<ChildrenBlock> bound =
        spare_.empty() ? allocate_nodes(weights_.size() << log_length_) : std::move(spare_);
    RoundSums sums;
    if (log_length_ >= least_kernel_bits) {
      sums = without_tau(sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
        const std::size_t block = ((segment << log_length_) + 2 * pair) / block_lanes;
        return bind_round(nodes_.data() + 2 * block, bound.data() + block, eq, challenge, 2 * pairs);
      }));
      spare_ = std::exchange(nodes_, std::move(bound));
      return sums;
    }
    for (std::size_t x = 0; x < weights_.size() << log_length_; ++x) {
      const Children low = load_children(nodes_.data(), 2 * x);
      const Children high = load_children(nodes_.data(), 2 * x + 1);
      store_children(bound.data(), x,
                     {on_line(low.p0, high.p0, challenge), on_line(low.p1, high.p1, challenge),
                      on_line(low.q0, high.q0, challenge), on_line(low.q1, high.q1, challenge)});
    }
    spare_ = std::exchange(nodes_, std::move(bound));
    return log_length_ == 0 ? sums : short_sums();
  }

  [[nodiscard]] Children node(std::size_t segment) const override {
    Children children = load_children(nodes_.data(), segment);
    children.p1 -= layer_.tau * children.q1;
    return children;
  }

  /// Sums over segments shorter than a block; p1 holds p1 + tau*q1.
  [[nodiscard]] RoundSums short_sums() const {
    const std::vector<E> eq = eq_table(pair_point());
    RoundSums sums;
    for (std::size_t i = 0; i < weights_.size() * eq.size(); ++i) {
      const Children low = load_children(nodes_.data(), 2 * i);
      const Children high = load_children(nodes_.data(), 2 * i + 1);
      const E weight = weights_[i / eq.size()] * eq[i % eq.size()];
      sums.at_zero += weight * (low.q0 * low.p1 + low.p0 * low.q1);
      sums.leading += weight * ((high.q0 - low.q0) * (high.p1 - low.p1) + (high.p0 - low.p0) * (high.q1 - low.q1));
    }
    return without_tau(sums);
  }

 private:
  [[nodiscard]] RoundSums without_tau(RoundSums sums) const {
    sums.at_zero -= layer_.tau * total_weight_;
    return sums;
  }

  BlockBuffer<ChildrenBlock> nodes_;
  BlockBuffer<ChildrenBlock> spare_;
};

/// Numerators are 1 as long as nodes lie inside a segment, so g = q0 + q1 + tau*q0*q1 = tau*(q0 + k)*(q1 + k) - k with
/// k = 1/tau: these rounds carry q0 + k and q1 + k only.
class LeafRounds final : public SegmentRounds {
 public:
  LeafRounds(const LayerContext& layer, const LookupInput& input, const SegmentClass& segments)
      : LeafRounds(layer, input, segments, layer.at.size() + 1 - segments.log_leaves) {}

  RoundSums first() override {
    return scaled(sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
      return leaf_first_round(segments_.a_of(segment) + 4 * pair, b_of(segment, 4 * pair), codes_[segment], eq, pairs);
    }));
  }

  RoundSums bind(E challenge) override {
    if (short_ != nullptr) {
      const RoundSums sums = short_->bind(challenge);
      log_length_ = short_->log_length();
      return sums;
    }
    --log_length_;
    if (log_length_ < least_kernel_bits) {
      return bind_to_nodes(challenge);
    }
    BlockBuffer<DenominatorsBlock> bound((weights_.size() << log_length_) / block_lanes);
    const RoundSums sums =
        sum_runs([&](std::size_t segment, std::size_t pair, std::size_t pairs, const WeightBlock* eq) {
          const std::size_t node = 2 * pair;
          const std::size_t block = ((segment << log_length_) + node) / block_lanes;
          return denominators_.empty()
                     ? leaf_bind_round(segments_.a_of(segment) + 4 * node, b_of(segment, 4 * node), codes_[segment],
                                       bound.data() + block, eq, challenge, 2 * pairs)
                     : denominators_bind_round(denominators_.data() + 2 * block, bound.data() + block, eq, challenge,
                                               2 * pairs);
        });
    denominators_ = std::move(bound);
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

  [[nodiscard]] const std::int32_t* b_of(std::size_t segment, std::size_t leaf) const {
    const std::int32_t* b = segments_.b_of(segment);
    return b == nullptr ? nullptr : b + leaf;
  }
  [[nodiscard]] RoundSums scaled(const RoundSums& sums) const {
    return {layer_.tau * sums.at_zero - (shift_ + layer_.tau) * total_weight_, layer_.tau * sums.leading};
  }

  /// Segments too short for the kernels go on as ordinary nodes.
  RoundSums bind_to_nodes(E challenge) {
    BlockBuffer<ChildrenBlock> nodes = allocate_nodes(weights_.size() << log_length_);
    for (std::size_t x = 0; x < weights_.size() << log_length_; ++x) {
      const Denominators low = load_denominators(denominators_.data(), 2 * x);
      const Denominators high = load_denominators(denominators_.data(), 2 * x + 1);
      const E q0 = on_line(low.q0, high.q0, challenge) - shift_;
      const E q1 = on_line(low.q1, high.q1, challenge) - shift_;
      store_children(nodes.data(), x, {E::one(), E::one() + layer_.tau * q1, q0, q1});
    }
    denominators_ = {};
    short_ = std::make_unique<NodeRounds>(layer_, weights_, std::move(nodes), outer_, log_length_);
    return short_->short_sums();
  }

  const SegmentClass& segments_;
  E shift_;
  std::vector<LeafCode> codes_;
  BlockBuffer<DenominatorsBlock> denominators_;
  std::unique_ptr<NodeRounds> short_;
};

}  // namespace

std::unique_ptr<SegmentRounds> node_rounds(const LayerContext& layer, const SegmentClass& segments,
                                           BlockBuffer<ChildrenBlock> nodes, unsigned log_length) {
  const std::size_t outer = layer.at.size() - log_length;
  return std::make_unique<NodeRounds>(layer, segment_weights(layer, segments, outer), std::move(nodes), outer,
                                      log_length);
}

std::unique_ptr<SegmentRounds> leaf_rounds(const LayerContext& layer, const LookupInput& input,
                                           const SegmentClass& segments) {
  return std::make_unique<LeafRounds>(layer, input, segments);
}

}  // namespace tessera
