#pragma once

#include <algorithm>
#include "lookup/layer_rounds.hpp"
#include "tensor/multilinear.hpp"

namespace tessera {

/// Pairs that one thread sums at a time, with one table of eq for their low bits.
inline constexpr unsigned log_run = 7;
/// Fewer runs are summed by one thread: waking another one takes some 50 microseconds.
inline constexpr std::size_t least_parallel_runs = 32;
/// Segments shorter than 2^this nodes go through scalar code: pairs do not fill a block.
inline constexpr unsigned least_kernel_bits = 4;

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
  /// Runs of a block: one thread takes them in order.
  [[nodiscard]] std::size_t runs() const { return log_block_ > log_run + 1 ? 1UL << (log_block_ - log_run - 1) : 1; }

 private:
  static constexpr unsigned most_bits = 12;
  unsigned log_segment_;
  unsigned log_block_;  // now
  unsigned bound_ = 0;  // variables bound in place
};

/// beta of every segment's place, `outer` variables.
std::vector<E> segment_weights(const LayerContext& layer, const SegmentClass& segments, std::size_t outer);

/// Stored nodes where p1 holds p1 + tau*q1.
class BoundRounds : public SegmentRounds {
 public:
  using SegmentRounds::SegmentRounds;
  /// This round's sums, by scalar code.
  [[nodiscard]] virtual NodeSums short_sums() const = 0;
};
std::unique_ptr<BoundRounds> bound_rounds(const LayerContext& layer, std::vector<E> weights,
                                          BlockBuffer<ChildrenBlock> nodes, std::size_t outer, unsigned log_length);

template <class Kernel>
NodeSums SegmentRounds::sum_runs(const Kernel& kernel, std::size_t together) const {
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
#pragma omp for schedule(static) nowait
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

}  // namespace tessera
