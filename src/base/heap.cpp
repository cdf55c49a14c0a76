#include "base/heap.hpp"

#include <cstdint>
#include <cstdlib>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace tessera {

#ifdef __GLIBC__

void reserve_heap(std::size_t bytes) {
  constexpr std::uintptr_t huge = std::uintptr_t{1} << 21U;
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  void* const taken = std::malloc(bytes);
  if (taken == nullptr) {
    return;
  }
  const auto begin = (reinterpret_cast<std::uintptr_t>(taken) + huge - 1) / huge * huge;
  const auto end = (reinterpret_cast<std::uintptr_t>(taken) + bytes) / huge * huge;
  if (begin < end) {
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // may be refused
  }
  std::free(taken);
}

#else

void reserve_heap(std::size_t /*bytes*/) {}

#endif

}  // namespace tessera
