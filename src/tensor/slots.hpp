#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tessera {

/// Places of pieces of 2^log_size entries in one sequence: by size descending, equal ones in their order. Sizes
/// descend, so every piece begins at a multiple of its size.
struct Slots {
  std::vector<std::size_t> first;  ///< entry of each piece
  std::size_t used = 0;            ///< entries altogether
};
Slots deal_slots(std::span<const unsigned> log_sizes);

}  // namespace tessera
