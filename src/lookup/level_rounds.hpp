#pragma once

#include "lookup/fraction_tree.hpp"

namespace tessera {

/// beta(prefix of a point, index) for every prefix, from tables of about the square root of the cube.
class PrefixEq {
 public:
  explicit PrefixEq(std::span<const E> point);
  [[nodiscard]] E operator()(std::size_t coordinates, std::size_t index) const { return products(coordinates)[index]; }
  /// All weights of so many coordinates.
  [[nodiscard]] ProductWeights products(std::size_t coordinates) const;

 private:
  std::size_t split_;                 // coordinates in the high tables
  std::vector<std::vector<E>> high_;  // of the first i coordinates
  std::vector<std::vector<E>> low_;   // of i coordinates from split_ on
};

/// One level's sum-check as its parts see it: the point that beta fixes, tau, and the prefixes' weights.
struct LevelContext {
  std::span<const E> at;
  E tau;
  const PrefixEq& eq;
};

/// What a segment class adds to one level's sum-check of g = p0*q1 + p1*q0 + tau*q0*q1. Sums are over this rank's
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
  explicit SegmentRounds(unsigned log_length) : log_length_(log_length) {}
  unsigned log_length_;
};

/// What a segment class adds to the level at `height` above the leaves, log_leaves > height; `nodes`: those that the
/// tree has kept of it, if any. Keeps references to all but `nodes`.
std::unique_ptr<SegmentRounds> segment_rounds(const LevelContext& level, const LookupInput& input,
                                              const SegmentClass& segments, BlockBuffer<ChildrenBlock> nodes,
                                              unsigned height);

/// The sparse list's part, the same on every rank: sums of beta*(g - tau) over pairs of `variables` remaining
/// variables.
NodeSums sparse_sums(std::span<const SparseNode> nodes, const LevelContext& level, std::size_t variables);

}  // namespace tessera
