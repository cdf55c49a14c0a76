#pragma once

#include <algorithm>

#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// The ranks that work on one unit where what is distributed has fewer units than there are ranks: from the unit's
/// owner (contiguous_owner()) on to the next unit's. They share its work by columns.
struct Team {
  std::size_t part = 0;
  int first = 0;           // rank of its owner
  std::size_t size = 1;    // ranks
  std::size_t number = 0;  // of a rank in it

  /// What member `member` has of `columns`.
  [[nodiscard]] Range share(Range columns, std::size_t member) const {
    const Range part_of_all = contiguous_range(columns.size(), static_cast<int>(member), static_cast<int>(size));
    return {columns.first + part_of_all.first, columns.first + part_of_all.last};
  }
};

/// The team of `rank`; ranks > count > 0.
inline Team team_of(std::size_t count, int rank, int ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t part = ((static_cast<std::size_t>(rank) + 1) * count - 1) / all;
  const int first = contiguous_owner(part, count, ranks);
  const int next = part + 1 < count ? contiguous_owner(part + 1, count, ranks) : ranks;
  return {part, first, static_cast<std::size_t>(next - first), static_cast<std::size_t>(rank - first)};
}

}  // namespace tessera
