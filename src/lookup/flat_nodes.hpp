#pragma once

#include <algorithm>
#include <array>
#include <numeric>

#include "lookup/fraction_tree.hpp"
#include "base/shares.hpp"

namespace tessera {

/// Fewer runs are summed by one thread: waking another one takes some 50 microseconds.
inline constexpr std::size_t least_parallel_runs = 32;

/// The nodes of short segments of one length, one segment after the other, p1 replaced by s = p1 + tau*q1: pairs of all
/// of them fill the kernels' blocks, each with the weight of its segment and of its place in it.
class FlatNodes {
 public:
  FlatNodes() = default;
  FlatNodes(BlockBuffer<ChildrenBlock> nodes, std::size_t count) : nodes_(std::move(nodes)), count_(count) {}
  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] Children node(std::size_t i) const { return load_children(nodes_.data(), i); }

  /// The sums of the first round over all pairs, whose nodes get s; `eq` has the weights of a segment's pairs.
  NodeSums first(std::span<const E> segments, std::span<const E> eq, E tau) {
    return sum(padded(count_ / 2, block_lanes), segments, eq,
               [&](std::size_t first, std::size_t pairs, const WeightBlock* weights) {
                 return first_round(nodes_.data() + 2 * first / block_lanes, weights, tau, pairs);
               });
  }
  /// Binds every pair; the sums of the next round.
  NodeSums bind(std::span<const E> segments, std::span<const E> eq, E challenge) {
    BlockBuffer<ChildrenBlock> bound = allocate_nodes(count_ / 2);
    count_ /= 2;
    const NodeSums sums =
        sum(padded(count_ / 2, block_lanes), segments, eq,
            [&](std::size_t first, std::size_t pairs, const WeightBlock* weights) {
              return bind_round(nodes_.data() + 4 * first / block_lanes, bound.data() + 2 * first / block_lanes,
                                weights, challenge, 2 * pairs);
            });
    nodes_ = std::move(bound);
    return sums;
  }
  /// Binds the last pair of every segment.
  void end(E challenge) {
    BlockBuffer<ChildrenBlock> bound = allocate_nodes(count_ / 2);
    count_ /= 2;
    bind_children(nodes_.data(), bound.data(), challenge, padded(count_, 2 * block_lanes));
    nodes_ = std::move(bound);
  }

 private:
  /// Pairs whose weights one thread makes at a time.
  static constexpr std::size_t run = 128;

  static std::size_t padded(std::size_t count, std::size_t unit) { return (count + unit - 1) / unit * unit; }

  /// The sum of kernel(first pair, pairs, weights) over runs; behind the last pair weights are zero.
  template <class Kernel>
  NodeSums sum(std::size_t pairs, std::span<const E> segments, std::span<const E> eq, const Kernel& kernel) const {
    const ProductWeights products{segments, eq};
    const std::size_t present = segments.size() * eq.size();
    NodeSums total;
#pragma omp parallel if (pairs > least_parallel_runs * run)
    {
      NodeSums mine;
      WeightBlock weights[run / block_lanes];
      std::array<std::uint64_t, run> indices;
#pragma omp for schedule(dynamic, share_of(pairs / run)) nowait
      for (std::size_t first = 0; first < pairs; first += run) {
        const std::size_t count = std::min(run, pairs - first);
        const std::size_t some = std::min(count, present - std::min(present, first));
        std::iota(indices.begin(), indices.begin() + some, first);
        std::fill(indices.begin() + some, indices.begin() + count, 0);
        put_weights(products, indices.data(), some, count, weights);
        mine += kernel(first, count, weights);
      }
#pragma omp critical(tessera_lookup_sums)
      total += mine;
    }
    return total;
  }

  BlockBuffer<ChildrenBlock> nodes_;
  std::size_t count_ = 0;  // nodes of all segments
};

}  // namespace tessera
