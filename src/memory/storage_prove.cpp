#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "memory/storage.hpp"

namespace tessera {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t alignment = 64;
/// Storage of at least as many bytes has pages of its own, less is a part of a slab, and still less the heap's.
constexpr std::size_t least_mapped = huge_page;
constexpr std::size_t least_of_slab = std::size_t{1} << 16;
constexpr std::size_t slab_bytes = 2 * huge_page;
constexpr std::size_t small_page = 4096;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

/// Whole huge pages, and small ones behind them: a huge page of which little is wanted takes room all the same.
struct Extent {
  std::size_t head;
  std::size_t tail;
  friend bool operator==(const Extent&, const Extent&) = default;

  explicit Extent(std::size_t bytes) : head(bytes / huge_page * huge_page), tail(rounded(bytes - head, small_page)) {
    if (tail > most_of_tail) {
      head += huge_page;
      tail = 0;
    }
  }

 private:
  static constexpr std::size_t most_of_tail = huge_page / 4 * 3;
};

/// Memory whose beginning has pages of freed pieces, and so has what stands behind its whole huge pages: so many bytes
/// of both are not zero.
struct Taken {
  std::byte* begin;
  std::size_t used_head, used_tail;
};

/// Freed pieces of pages of one size. The first touch of a page costs several times what writing it does, so their
/// pages move to the next allocation, whatever its size: the process touches as many pages as it needs at once.
class Pages {
 public:
  explicit Pages(std::size_t page) : page_(page) {}
  /// Moves pages of freed pieces to `place`; result: of how many bytes.
  std::size_t move_to(std::byte* place, std::size_t bytes) {
    std::size_t moved = 0;
    bool together = true;
    while (moved < bytes && !pieces_.empty()) {
      const Piece& last = pieces_.back();
      const std::size_t part = together ? std::min(last.bytes, bytes - moved) : page_;
      std::byte* const from = last.begin + (last.bytes - part);
      if (mremap(from, part, part, MREMAP_MAYMOVE | MREMAP_FIXED, place + moved) == MAP_FAILED) {
        if (part == page_) {
          break;  // fresh pages do as well
        }
        together = false;  // before Linux 6.17 pages that were moved together alone
        continue;
      }
      moved += part;
      remove(part);
    }
    return moved;
  }
  [[nodiscard]] std::size_t total() const { return total_; }
  void add(std::byte* begin, std::size_t bytes) {
    if (bytes > 0) {
      pieces_.push_back({begin, bytes});
      total_ += bytes;
    }
  }
  /// Unmaps all but so many bytes.
  void trim(std::size_t keep) {
    while (total_ > keep) {
      Piece& last = pieces_.back();
      const std::size_t part = std::min(last.bytes, total_ - keep);
      munmap(last.begin + (last.bytes - part), part);
      remove(part);
    }
  }

 private:
  struct Piece {
    std::byte* begin;
    std::size_t bytes;
  };
  /// Takes `bytes` from the end of the last piece.
  void remove(std::size_t bytes) {
    total_ -= bytes;
    pieces_.back().bytes -= bytes;
    if (pieces_.back().bytes == 0) {
      pieces_.pop_back();
    }
  }

  std::size_t page_;
  std::vector<Piece> pieces_;
  std::size_t total_ = 0;
};

/// Pieces with pages of their own. A freed piece serves the next one of its size as it is, since moving its pages takes
/// a few calls of the system, each of which all threads notice; for others it is taken apart.
class Pool {
 public:
  Taken take(std::size_t bytes) {
    const Extent extent(bytes);
    if (std::byte* const same = take_same(extent); same != nullptr) {
      return {same, extent.head, extent.tail};
    }
    std::byte* const place = reserve(extent);
    const std::scoped_lock lock(mutex_);
    while (!freed_.empty() && (huge_.total() < extent.head || small_.total() < extent.tail)) {
      take_apart();
    }
    if (small_.total() < extent.tail) {
      add_small_pages();
    }
    return {place, huge_.move_to(place, extent.head), small_.move_to(place + extent.head, extent.tail)};
  }

  void give(std::byte* begin, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    freed_.push_back({begin, Extent(bytes)});
  }

  void trim(std::size_t keep) {
    const std::scoped_lock lock(mutex_);
    while (!freed_.empty()) {
      take_apart();
    }
    small_.trim(0);
    huge_.trim(rounded(keep, huge_page));
  }

 private:
  struct Freed {
    std::byte* begin;
    Extent extent;
  };

  /// The freed piece of this size that was used last; null if there is none.
  std::byte* take_same(const Extent& extent) {
    const std::scoped_lock lock(mutex_);
    const auto same = std::ranges::find(freed_.rbegin(), freed_.rend(), extent, &Freed::extent);
    if (same == freed_.rend()) {
      return nullptr;
    }
    std::byte* const begin = same->begin;
    freed_.erase(std::prev(same.base()));
    return begin;
  }

  /// The piece that was freed first becomes pages.
  void take_apart() {
    const auto [begin, extent] = freed_.front();
    freed_.pop_front();
    huge_.add(begin, extent.head);
    small_.add(begin + extent.head, extent.tail);
  }

  /// Fresh zeroed memory, aligned to huge pages.
  static std::byte* reserve(const Extent& extent) {
    const std::size_t bytes = extent.head + extent.tail;
    void* mapped = mmap(nullptr, bytes + huge_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
      throw std::bad_alloc();
    }
    auto* const begin = static_cast<std::byte*>(mapped);
    const std::size_t before = (huge_page - reinterpret_cast<std::uintptr_t>(begin) % huge_page) % huge_page;
    if (before != 0) {
      munmap(begin, before);
    }
    if (before != huge_page) {
      munmap(begin + before + bytes, huge_page - before);
    }
    madvise(begin + before, extent.head, MADV_HUGEPAGE);  // may be refused
    return begin + before;
  }

  /// Divides a huge page: its small pages are touched together, which costs little more than one of them.
  void add_small_pages() {
    std::byte* const place = reserve(Extent(huge_page));
    if (huge_.move_to(place, huge_page) == 0) {
      *static_cast<volatile std::byte*>(place) = std::byte{0};
    }
    small_.add(place, huge_page);
  }

  std::mutex mutex_;
  std::deque<Freed> freed_;
  Pages huge_{huge_page}, small_{small_page};
};

Pool& pool() {
  static Pool& instance = *new Pool;  // outlives every static buffer
  return instance;
}

/// Pieces of middle size share slabs, whose pages go back to the pool once nothing in them is used: the heap would keep
/// them from it.
class Slabs {
 public:
  std::byte* take(std::size_t bytes) {
    const std::size_t size = rounded(bytes, small_page);
    const std::scoped_lock lock(mutex_);
    for (auto& [begin, slab] : slabs_) {
      for (auto place = slab.free.begin(); place != slab.free.end(); ++place) {
        if (const auto [offset, room] = *place; room >= size) {
          slab.free.erase(place);
          if (room > size) {
            slab.free.emplace(offset + size, room - size);
          }
          return begin + offset;
        }
      }
    }
    std::byte* const begin = pool().take(slab_bytes).begin;
    slabs_[begin].free.emplace(size, slab_bytes - size);
    return begin;
  }

  void give(std::byte* piece, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    const auto slab = std::prev(slabs_.upper_bound(piece));
    std::map<std::size_t, std::size_t>& free = slab->second.free;
    auto place = free.emplace(static_cast<std::size_t>(piece - slab->first), rounded(bytes, small_page)).first;
    if (const auto next = std::next(place); next != free.end() && place->first + place->second == next->first) {
      place->second += next->second;
      free.erase(next);
    }
    if (place != free.begin()) {
      if (const auto before = std::prev(place); before->first + before->second == place->first) {
        before->second += place->second;
        free.erase(place);
        place = before;
      }
    }
    if (place->second == slab_bytes) {
      pool().give(slab->first, slab_bytes);
      slabs_.erase(slab);
    }
  }

 private:
  struct Slab {
    std::map<std::size_t, std::size_t> free;  // size by offset; no two touch
  };

  std::mutex mutex_;
  std::map<std::byte*, Slab> slabs_;
};

Slabs& slabs() {
  static Slabs& instance = *new Slabs;
  return instance;
}

std::byte* allocate_small(std::size_t bytes) {
  if (bytes >= least_of_slab) {
    return slabs().take(bytes);
  }
  const std::size_t size = (bytes + alignment) / alignment * alignment;  // never 0 bytes
  void* storage = std::aligned_alloc(alignment, size);
  return storage != nullptr ? static_cast<std::byte*>(storage) : throw std::bad_alloc();
}

}  // namespace

void* allocate_storage(std::size_t bytes) {
  return bytes < least_mapped ? allocate_small(bytes) : pool().take(bytes).begin;
}

void* allocate_zeroed(std::size_t bytes) {
  if (bytes < least_mapped) {
    return std::memset(allocate_small(bytes), 0, bytes);
  }
  const Taken taken = pool().take(bytes);
#pragma omp parallel for schedule(static)
  for (std::size_t first = 0; first < taken.used_head; first += huge_page) {
    std::memset(taken.begin + first, 0, huge_page);
  }
  std::memset(taken.begin + Extent(bytes).head, 0, taken.used_tail);
  return taken.begin;
}

void take_pages(void* storage, std::size_t bytes) {
  auto* const begin = static_cast<std::byte*>(storage);
#pragma omp parallel for schedule(static)
  for (std::size_t first = 0; first < bytes; first += huge_page) {
    for (std::size_t page = first; page < std::min(bytes, first + huge_page); page += small_page) {
      *static_cast<volatile std::byte*>(begin + page) = std::byte{0};
    }
  }
}

void trim_storage(std::size_t keep) { pool().trim(keep); }

void free_storage(void* storage, std::size_t bytes) {
  if (bytes < least_of_slab) {
    std::free(storage);
  } else if (bytes < least_mapped) {
    slabs().give(static_cast<std::byte*>(storage), bytes);
  } else {
    pool().give(static_cast<std::byte*>(storage), bytes);
  }
}

}  // namespace tessera
