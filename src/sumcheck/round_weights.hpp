#pragma once

#include "tensor/multilinear.hpp"

namespace tessera {

/// beta(at, x) for the pairs x of a round, `at` being the coordinates of the variables above the one that is bound:
/// a table over the lowest variables and one over the others, because a whole table would cost as much as the round.
class RoundWeights {
 public:
  /// All weights are one.
  RoundWeights() = default;
  explicit RoundWeights(std::span<const E> at);
  /// One weight a pair, of a run that is whole.
  static RoundWeights of(std::vector<E> weights);
  [[nodiscard]] bool empty() const { return low_.empty(); }
  [[nodiscard]] E operator[](std::size_t x) const { return low_[x % low_.size()] * high_[x / low_.size()]; }

  /// Pairs that share a high weight; 2^variables if those are few.
  [[nodiscard]] std::size_t block() const { return low_.size(); }
  /// weight of pair x = low()[x mod block()] * high()[x / block()].
  [[nodiscard]] const E* low() const { return low_.data(); }
  /// (7*c1, c0) of low()'s (c0, c1): what vector kernels multiply by c1 of the other factor.
  [[nodiscard]] const E* low_crossed() const { return low_crossed_.data(); }
  [[nodiscard]] std::span<const E> high() const { return high_; }

 private:
  RoundWeights(std::vector<E> low, std::vector<E> high);

  std::vector<E> low_;
  std::vector<E> low_crossed_;
  std::vector<E> high_;
};

}  // namespace tessera
