#pragma once

#include <cstdlib>
#include <new>
#include <vector>

namespace tessera {

/// Zeroed memory that takes no room until it is written, page by page: a tensor of which a rank fills its own rows
/// costs those rows.
template <class T>
struct SparseAllocator {
  using value_type = T;
  SparseAllocator() = default;
  template <class U>
  explicit SparseAllocator(const SparseAllocator<U>& /*other*/) {}
  T* allocate(std::size_t count) {
    void* memory = std::calloc(count, sizeof(T));
    if (memory == nullptr) {
      throw std::bad_alloc();
    }
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t /*count*/) { std::free(memory); }
  /// calloc has done it, and writing here would take the page.
  void construct(T* /*place*/) noexcept {}
  template <class... Values>
  void construct(T* place, Values&&... values) {
    ::new (static_cast<void*>(place)) T(std::forward<Values>(values)...);
  }
  friend bool operator==(const SparseAllocator&, const SparseAllocator&) { return true; }
};

/// A vector of numbers whose entries are zero after its first resize(), without being touched. It is sized once:
/// shrinking and growing again would bring old values back.
template <class T>
using SparseVector = std::vector<T, SparseAllocator<T>>;

}  // namespace tessera
