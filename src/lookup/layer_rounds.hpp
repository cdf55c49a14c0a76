#pragma once

#include "lookup/fraction_tree.hpp"

namespace tessera {

/// beta(prefix of a point, index) for every prefix, from tables of about the square root of the cube.
class PrefixEq {
 public:
  explicit PrefixEq(std::span<const E> point);
  [[nodiscard]] E operator()(std::size_t coordinates, std::size_t index) const;

 private:
  std::size_t split_;                 // coordinates in the high tables
  std::vector<std::vector<E>> high_;  // of the first i coordinates
  std::vector<std::vector<E>> low_;   // of i coordinates from split_ on
};

/// One GKR layer's sum-check as its parts see it: the point that beta fixes, tau, and the prefixes' weights.
struct LayerContext {
  std::span<const E> at;
  E tau;
  const PrefixEq& eq;
};

/// The part of a class of segments in one layer's sum-check of g = p0*q1 + p1*q0 + tau*q0*q1. Sums are over this rank's
/// segments, of beta*(g - tau): neutral nodes contribute nothing.
class SegmentRounds {
 public:
  virtual ~SegmentRounds() = default;
  /// log2 of a segment's nodes; the segments leave for the sparse list when it is 0.
  [[nodiscard]] unsigned log_length() const { return log_length_; }
  /// The first round's sums. log_length >= 1.
  virtual NodeSums first() = 0;
  /// Binds the last variable, then the next round's sums (zero if log_length is 0 now).
  virtual NodeSums bind(E challenge) = 0;
  /// The node that segment i has become; log_length = 0.
  [[nodiscard]] virtual Children node(std::size_t segment) const = 0;

 protected:
  SegmentRounds(const LayerContext& layer, std::vector<E> weights, std::size_t outer, unsigned log_length);
  /// sum of weights times kernel(segment, first pair, pairs, eq weights): runs of pairs of all segments. One thread
  /// takes `together` consecutive runs of a segment, in order.
  template <class Kernel>
  NodeSums sum_runs(const Kernel& kernel, std::size_t together = 1) const;
  /// The coordinates of the pairs inside a segment in this round.
  [[nodiscard]] std::span<const E> pair_point() const { return layer_.at.subspan(outer_, log_length_ - 1); }

  const LayerContext& layer_;
  std::vector<E> weights_;  // beta of every segment's place
  E total_weight_;
  std::size_t outer_;  // variables outside the segments
  unsigned log_length_;
};

/// The part of segments with stored nodes.
std::unique_ptr<SegmentRounds> node_rounds(const LayerContext& layer, const SegmentClass& segments,
                                           BlockBuffer<ChildrenBlock> nodes, unsigned log_length);
/// The part of integer columns in the layers that the tree does not keep (heights 2 to derived_height).
std::unique_ptr<SegmentRounds> derived_rounds(const LayerContext& layer, const LookupInput& input,
                                              const SegmentClass& segments, unsigned log_length);
/// The part of integer columns in the leaf layer.
std::unique_ptr<SegmentRounds> leaf_rounds(const LayerContext& layer, const LookupInput& input,
                                           const SegmentClass& segments);

/// The sparse list's part, the same on every rank: sums of beta*(g - tau) over pairs of `variables` remaining
/// variables.
NodeSums sparse_sums(std::span<const SparseNode> nodes, const LayerContext& layer, std::size_t variables);
std::vector<SparseNode> bind_sparse(std::span<const SparseNode> nodes, E challenge);

}  // namespace tessera
