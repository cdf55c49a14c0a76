#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tessera {

/// Pieces of one size, 2^log_size entries each.
struct Pieces {
  unsigned log_size = 0;
  std::size_t count = 1;
};

/// Places of pieces in one sequence: by size descending, equal ones in their order. Sizes descend, so every piece
/// begins at a multiple of its size.
struct Slots {
  std::vector<std::size_t> first;  ///< entry of the first of some pieces; the others follow it
  std::size_t used = 0;            ///< entries altogether
};
Slots deal_slots(std::span<const Pieces> pieces);

}  // namespace tessera
