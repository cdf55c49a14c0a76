#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

/// \file
/// Memory for tensors, tables and codewords. Large pieces are mapped apart from the heap, on huge pages where the
/// system has them; freed pages are kept for the next large piece. Page faults would be a third of the prover's time.

namespace tessera {

/// Uninitialised storage, aligned to 64.
void* allocate_storage(std::size_t bytes);
/// Zeroed storage; fresh pages take no room until they are written.
void* allocate_zeroed(std::size_t bytes);
void free_storage(void* storage, std::size_t bytes);
/// Takes all pages of storage, each by one thread: threads that write everywhere would each clear one for the same
/// place and throw all but one away. What is in it is lost.
void take_pages(void* storage, std::size_t bytes);

/// Gives the system all pages of freed storage but so many bytes.
void trim_storage(std::size_t keep);

template <class T, bool Zeroed>
struct StorageAllocator {
  using value_type = T;
  template <class U>
  struct rebind {
    using other = StorageAllocator<U, Zeroed>;
  };
  StorageAllocator() = default;
  template <class U>
  explicit StorageAllocator(const StorageAllocator<U, Zeroed>& /*other*/) {}
  T* allocate(std::size_t count) {
    return static_cast<T*>(Zeroed ? allocate_zeroed(count * sizeof(T)) : allocate_storage(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) { free_storage(memory, count * sizeof(T)); }
  /// Nothing: storage is zeroed or meant to be uninitialised, and writing here would take the page.
  void construct(T* /*place*/) noexcept {}
  template <class... Values>
  void construct(T* place, Values&&... values) {
    ::new (static_cast<void*>(place)) T(std::forward<Values>(values)...);
  }
  friend bool operator==(const StorageAllocator&, const StorageAllocator&) { return true; }
};

/// A vector of numbers whose entries are zero after its first resize(), without being touched: a tensor of which a rank
/// fills its own rows costs those rows. It is sized once: shrinking and growing again would bring old values back.
template <class T>
using ZeroedVector = std::vector<T, StorageAllocator<T, true>>;

/// A vector of numbers whose entries are uninitialised after resize().
template <class T>
using RawVector = std::vector<T, StorageAllocator<T, false>>;

/// Blocks for vector kernels.
template <class Block>
class BlockBuffer {
 public:
  BlockBuffer() = default;
  explicit BlockBuffer(std::size_t count)
      : blocks_(static_cast<Block*>(allocate_storage(count * sizeof(Block))), Free{count * sizeof(Block)}) {}
  [[nodiscard]] bool empty() const { return blocks_ == nullptr; }
  [[nodiscard]] Block* data() const { return blocks_.get(); }

 private:
  struct Free {
    std::size_t bytes = 0;
    void operator()(Block* blocks) const { free_storage(blocks, bytes); }
  };
  std::unique_ptr<Block, Free> blocks_;
};

}  // namespace tessera
