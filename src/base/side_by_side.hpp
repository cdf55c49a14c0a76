#pragma once

#include <cstddef>
#include <exception>

namespace tessera {

/// body(0), …, body(count - 1) on OpenMP's threads, begun in this order. All run, whatever others throw; then the
/// exception of the first in this order is thrown.
template <class Body>
void run_side_by_side(std::size_t count, const Body& body) {
  std::exception_ptr failure;
  std::size_t failed = count;
#pragma omp parallel for schedule(dynamic, 1)
  for (std::size_t i = 0; i < count; ++i) {
    try {
      body(i);
    } catch (...) {
#pragma omp critical(tessera_side_by_side)
      if (i < failed) {
        failed = i;
        failure = std::current_exception();
      }
    }
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

}  // namespace tessera
