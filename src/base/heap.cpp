#include "base/heap.hpp"

#include <cstdlib>
#include <memory>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#endif

namespace tessera {

#ifdef __GLIBC__

void keep_freed_heap() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

void reserve_heap(std::size_t bytes) {
  constexpr std::size_t huge = std::size_t{1} << 21U;
  keep_freed_heap();
  void* const taken = std::malloc(bytes);
  void* begin = taken;
  if (std::size_t space = bytes; taken != nullptr && std::align(huge, huge, begin, space) != nullptr) {
    madvise(begin, space / huge * huge, MADV_HUGEPAGE);  // may be refused
  }
  std::free(taken);
}

#else

void keep_freed_heap() {}
void reserve_heap(std::size_t /*bytes*/) {}

#endif

}  // namespace tessera
