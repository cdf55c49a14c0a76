#pragma once

#include <tessera/lookup/layer_rounds.hpp>
#include <tessera/polynomial/multilinear.hpp>

namespace tessera {

/// Pairs that one thread sums at a time, with one table of eq for their low bits.
inline constexpr unsigned log_run = 7;
/// Segments shorter than 2^this nodes go through scalar code: pairs do not fill a block.
inline constexpr unsigned least_kernel_bits = 4;

/// beta of every segment's place, `outer` variables.
std::vector<E> segment_weights(const LayerContext& layer, const SegmentClass& segments, std::size_t outer);

/// Stored nodes where p1 holds p1 + tau*q1.
class BoundRounds : public SegmentRounds {
 public:
  using SegmentRounds::SegmentRounds;
  /// This round's sums, by scalar code.
  [[nodiscard]] virtual RoundSums short_sums() const = 0;
};
std::unique_ptr<BoundRounds> bound_rounds(const LayerContext& layer, std::vector<E> weights,
                                          BlockBuffer<ChildrenBlock> nodes, std::size_t outer, unsigned log_length);

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

}  // namespace tessera
