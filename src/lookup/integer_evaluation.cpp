#include "lookup/integer_evaluation.hpp"

#include <algorithm>

namespace tessera {

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
