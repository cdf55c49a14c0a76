#pragma once

#include "tensor/multilinear.hpp"

namespace tessera {

/// sum_x weights[x]*values[x], one reduction a component: |values|*count below 2^63.
template <class T>
E dot(std::span<const E> weights, std::span<const T> values) {
  __int128 sum0 = 0;
  __int128 sum1 = 0;
  for (std::size_t x = 0; x < values.size(); ++x) {
    sum0 += static_cast<__int128>(values[x]) * weights[x].c0.value();
    sum1 += static_cast<__int128>(values[x]) * weights[x].c1.value();
  }
  const auto reduce = [](__int128 sum) {
    return sum >= 0 ? F::reduce128(static_cast<unsigned __int128>(sum))
                    : -F::reduce128(0 - static_cast<unsigned __int128>(sum));
  };
  return {reduce(sum0), reduce(sum1)};
}

/// The multilinear extension of integers |values| < 2^48 at `point`; rows of zeros (the upper half of EXP) are skipped.
E evaluate_integers(std::span<const std::int64_t> values, std::span<const E> point);

}  // namespace tessera
