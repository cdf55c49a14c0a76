#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include "memory/storage.hpp"

namespace tessera {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t alignment = 64;
constexpr std::size_t least_mapped = 2 * huge_page;

std::size_t mapped_bytes(std::size_t bytes) { return (bytes + huge_page - 1) / huge_page * huge_page; }

struct Piece {
  std::byte* begin;
  std::size_t bytes;
};

/// Freed pieces. The first touch of a page costs several times what writing it does, so their pages move to the next
/// allocation, whatever its size: the process touches as many pages as it needs at once.
class Pool {
 public:
  /// A piece of this size with pages of freed ones at its beginning; `reused`: how many bytes of it.
  std::byte* take(std::size_t bytes, std::size_t& reused) {
    std::byte* const place = reserve(bytes);
    reused = 0;
    const std::scoped_lock lock(mutex_);
    while (reused < bytes && !pieces_.empty()) {
      Piece& last = pieces_.back();
      const std::size_t part = std::min(last.bytes, bytes - reused);
      std::byte* const from = last.begin + (last.bytes - part);
      if (mremap(from, part, part, MREMAP_MAYMOVE | MREMAP_FIXED, place + reused) == MAP_FAILED) {
        break;  // fresh pages do as well
      }
      reused += part;
      last.bytes -= part;
      if (last.bytes == 0) {
        pieces_.pop_back();
      }
    }
    return place;
  }

  void give(std::byte* begin, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    pieces_.push_back({begin, bytes});
  }

 private:
  /// Fresh zeroed memory, aligned to huge pages.
  static std::byte* reserve(std::size_t bytes) {
    void* mapped = mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      throw std::bad_alloc();
    }
    auto* const begin = static_cast<std::byte*>(mapped);
    const std::size_t head = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
    if (head != 0) {
      munmap(begin, head);
    }
    if (head != huge_page) {
      munmap(begin + head + bytes, huge_page - head);
    }
    madvise(begin + head, bytes, MADV_HUGEPAGE);  // may be refused
    return begin + head;
  }

  std::mutex mutex_;
  std::vector<Piece> pieces_;
};

Pool& pool() {
  static Pool& instance = *new Pool;  // outlives every static buffer
  return instance;
}

std::byte* allocate_small(std::size_t bytes) {
  const std::size_t size = (bytes + alignment) / alignment * alignment;  // never 0 bytes
  void* storage = std::aligned_alloc(alignment, size);
  return storage != nullptr ? static_cast<std::byte*>(storage) : throw std::bad_alloc();
}

}  // namespace

void* allocate_storage(std::size_t bytes) {
  std::size_t reused = 0;
  return bytes < least_mapped ? allocate_small(bytes) : pool().take(mapped_bytes(bytes), reused);
}

void* allocate_zeroed(std::size_t bytes) {
  if (bytes < least_mapped) {
    return std::memset(allocate_small(bytes), 0, bytes);
  }
  std::size_t reused = 0;
  std::byte* const storage = pool().take(mapped_bytes(bytes), reused);
#pragma omp parallel for schedule(static)
  for (std::size_t first = 0; first < reused; first += huge_page) {
    std::memset(storage + first, 0, huge_page);
  }
  return storage;
}

void keep_freed_heap() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

void free_storage(void* storage, std::size_t bytes) {
  if (bytes < least_mapped) {
    std::free(storage);
  } else {
    pool().give(static_cast<std::byte*>(storage), mapped_bytes(bytes));
  }
}

}  // namespace tessera
