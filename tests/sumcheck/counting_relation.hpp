#pragma once

#include <cstddef>

#include "sumcheck/round_kernel.hpp"

namespace tessera {

/// (v0 - v1)*(5*v2 + v1) + 2*c*v3 + v0 + v1: not homogeneous. Counts how often it is evaluated on field elements.
struct CountingRelation {
  inline static std::size_t evaluations = 0;
  E c;
  static constexpr std::size_t degree() { return 2; }
  static constexpr std::size_t factors() { return 4; }
  auto operator()(const auto& v) const {
    if constexpr (!Expression<std::decay_t<decltype(v[0])>>) {
      ++evaluations;
    }
    return (v[0] - v[1]) * (v[2] * F::from_canonical(5) + v[1]) +
           sum_of(2, [&v, this](std::size_t k) { return c * v[3] + v[k]; });
  }
};

RoundKernel round_kernel(const CountingRelation& relation);
}  // namespace tessera
