#pragma once

#include "sumcheck/relation.hpp"

namespace tessera {

/// Product of two factors.
struct ProductRelation {
  static constexpr bool homogeneous = true;
  static constexpr bool begins_with_claim = true;
  static constexpr std::size_t degree() { return 2; }
  static constexpr std::size_t factors() { return 2; }
  auto operator()(const auto& v) const { return v[0] * v[1]; }
};
RoundKernel round_kernel(const ProductRelation& relation);

/// Product of three factors.
struct TripleProductRelation {
  static constexpr bool homogeneous = true;
  static constexpr bool weighted = false;
  static constexpr std::size_t degree() { return 3; }
  static constexpr std::size_t factors() { return 3; }
  auto operator()(const auto& v) const { return v[0] * v[1] * v[2]; }
};
RoundKernel round_kernel(const TripleProductRelation& relation);

}  // namespace tessera
