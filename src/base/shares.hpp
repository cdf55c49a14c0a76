#pragma once

#include <omp.h>

#include <algorithm>
#include <cstddef>

namespace tessera {

/// How many of a loop's `iterations` a thread takes at a time, for schedule(dynamic, share_of(iterations)): each takes
/// some sixteen times. A thread that the system holds up for a moment leaves the rest to the others, which would else
/// wait at the loop's end.
inline std::size_t share_of(std::size_t iterations) {
  constexpr std::size_t shares = 16;  // of a thread
  return std::max<std::size_t>(1, iterations / (shares * static_cast<std::size_t>(omp_get_max_threads())));
}

}  // namespace tessera
