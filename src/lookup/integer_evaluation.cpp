#include "lookup/integer_evaluation.hpp"

#include <algorithm>

namespace tessera {
namespace {

/// sum_x weights[x]*values[x], one reduction a component: |values|*count below 2^63.
E dot(std::span<const E> weights, std::span<const std::int64_t> values) {
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

}  // namespace

E evaluate_integers(std::span<const std::int64_t> values, std::span<const E> point) {
  const std::size_t high_bits = point.size() / 2;
  const std::vector<E> high = eq_table(point.first(high_bits));
  const std::vector<E> low = eq_table(point.subspan(high_bits));
  E sum;
  for (std::size_t i = 0; i < high.size(); ++i) {
    const std::span<const std::int64_t> row = values.subspan(i * low.size(), low.size());
    if (row.front() != 0 || row.back() != 0 || std::ranges::any_of(row, [](std::int64_t v) { return v != 0; })) {
      sum += high[i] * dot(low, row);
    }
  }
  return sum;
}

}  // namespace tessera
