#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "memory/storage.hpp"

namespace tessera::test {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t least_of_slab = mebibyte / 16;  // smaller pieces are the heap's
constexpr std::size_t least_mapped = 2 * mebibyte;    // larger ones have pages of their own

/// Bytes of a mapped piece that take room.
std::size_t resident(const void* begin, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages(bytes / page);
  EXPECT_EQ(mincore(const_cast<void*>(begin), pages.size() * page, pages.data()), 0);
  return page * static_cast<std::size_t>(std::ranges::count_if(pages, [](unsigned char p) { return (p & 1) != 0; }));
}

/// Bytes of memory that this process takes.
std::size_t resident_of_process() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, pages = 0;
  file >> all >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/// Leaves written pages of this many bytes to whoever allocates next.
void leave_dirty(std::size_t bytes) {
  void* const storage = allocate_storage(bytes);
  std::memset(storage, 0xA5, bytes);
  free_storage(storage, bytes);
}

TEST(Storage, pieces_of_any_size_are_aligned_and_apart) {
  std::vector<std::size_t> sizes{0, 1, 63, 64, 65, 4096};
  for (const std::size_t size : {least_of_slab, mebibyte, least_mapped, 3 * mebibyte, 4 * mebibyte}) {
    for (std::size_t times = 0; times < 3; ++times) {
      sizes.insert(sizes.end(), {size - 1, size, size + 1});
    }
  }
  std::vector<unsigned char*> pieces;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    pieces.push_back(static_cast<unsigned char*>(allocate_storage(sizes[i])));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces[i]) % 64, 0U) << sizes[i];
    std::memset(pieces[i], static_cast<int>(i + 1), sizes[i]);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_TRUE(std::all_of(pieces[i], pieces[i] + sizes[i], [&](unsigned char c) { return c == i + 1; })) << sizes[i];
    free_storage(pieces[i], sizes[i]);
  }
}

TEST(Storage, pages_of_freed_pieces_move_to_the_next_whatever_its_size) {
  leave_dirty(32 * mebibyte);
  for (const std::size_t size : {8 * mebibyte, 16 * mebibyte}) {
    void* const storage = allocate_storage(size);
    EXPECT_EQ(resident(storage, size), size) << "no page is fresh";
    free_storage(storage, size);
  }
}

TEST(Storage, a_freed_piece_serves_the_next_one_of_its_size) {
  constexpr std::size_t small = 3 * mebibyte + 4096, large = 24 * mebibyte;
  void* const first = allocate_storage(large);
  void* const second = allocate_storage(small);
  free_storage(first, large);
  free_storage(second, small);
  auto* const zeroed = static_cast<unsigned char*>(allocate_zeroed(large - 1));
  EXPECT_EQ(zeroed, first) << "as many pages";
  EXPECT_EQ(std::count(zeroed, zeroed + large - 1, 0), static_cast<std::ptrdiff_t>(large - 1));
  EXPECT_EQ(allocate_storage(small), second);
  free_storage(zeroed, large - 1);
  free_storage(second, small);
  trim_storage(0);
  EXPECT_EQ(mincore(first, mebibyte, std::vector<unsigned char>(mebibyte / 4096).data()), -1) << "unmapped";
}

TEST(Storage, pieces_of_slabs_are_taken_again_in_any_order) {
  std::mt19937 random(3);
  std::vector<std::pair<unsigned char*, std::size_t>> pieces;
  for (std::size_t round = 0; round < 2000; ++round) {
    if (!pieces.empty() && random() % 2 == 0) {
      std::swap(pieces[random() % pieces.size()], pieces.back());
      const auto [piece, size] = pieces.back();
      ASSERT_EQ(piece[0], piece[size - 1]);
      free_storage(piece, size);
      pieces.pop_back();
      continue;
    }
    const std::size_t size = least_of_slab + random() % (least_mapped - least_of_slab);
    auto* const piece = static_cast<unsigned char*>(allocate_storage(size));
    piece[0] = piece[size - 1] = static_cast<unsigned char>(round);
    pieces.emplace_back(piece, size);
  }
  for (const auto& [piece, size] : pieces) {
    EXPECT_EQ(piece[0], piece[size - 1]);
    free_storage(piece, size);
  }
}

TEST(Storage, pages_of_slabs_move_to_large_pieces_once_nothing_in_them_is_used) {
  std::vector<void*> pieces;
  for (std::size_t i = 0; i < 32; ++i) {
    pieces.push_back(allocate_storage(mebibyte));
    std::memset(pieces.back(), 1, mebibyte);
  }
  for (void* const piece : pieces) {
    free_storage(piece, mebibyte);
  }
  void* const storage = allocate_storage(16 * mebibyte);
  EXPECT_EQ(resident(storage, 16 * mebibyte), 16 * mebibyte) << "no page is fresh";
  free_storage(storage, 16 * mebibyte);
}

TEST(Storage, takes_little_more_room_than_is_asked_for) {
  constexpr std::size_t size = 2 * mebibyte + mebibyte / 4;
  const std::size_t before = resident_of_process();
  std::vector<void*> pieces;
  for (std::size_t i = 0; i < 32; ++i) {
    pieces.push_back(allocate_storage(size));
    std::memset(pieces.back(), 1, size);
  }
  EXPECT_LE(resident_of_process(), before + 32 * size + 4 * mebibyte);
  for (void* const piece : pieces) {
    free_storage(piece, size);
  }
}

TEST(Storage, gives_pages_back_that_are_not_to_be_kept) {
  leave_dirty(64 * mebibyte);
  const std::size_t before = resident_of_process();
  trim_storage(16 * mebibyte);
  // reading the counts takes pages too, and the system adds them up in batches
  EXPECT_LE(resident_of_process(), before - 47 * mebibyte);
  void* const storage = allocate_storage(32 * mebibyte);
  EXPECT_EQ(resident(storage, 32 * mebibyte), 16 * mebibyte);
  free_storage(storage, 32 * mebibyte);
}

TEST(Storage, takes_all_pages_when_told_to) {
  for (const std::size_t size : {least_of_slab, 3 * mebibyte, 16 * mebibyte}) {
    void* const storage = allocate_storage(size);
    take_pages(storage, size);
    EXPECT_EQ(resident(storage, size), size);
    free_storage(storage, size);
  }
}

TEST(ZeroedVector, is_zero_on_reused_memory) {
  for (const std::size_t bytes :
       {std::size_t{1000}, least_of_slab, mebibyte, least_mapped, 5 * mebibyte / 2 + 10, 16 * mebibyte}) {
    for (const std::size_t dirty : {bytes / 2, bytes, 2 * bytes}) {
      leave_dirty(dirty);
      ZeroedVector<std::int16_t> values;
      values.resize(bytes / sizeof(std::int16_t));
      EXPECT_TRUE(std::ranges::all_of(values, [](std::int16_t v) { return v == 0; })) << dirty << " for " << bytes;
    }
  }
}

TEST(ZeroedVector, costs_the_rows_that_are_written) {
  constexpr std::size_t bytes = 512 * mebibyte;
  // pages of freed pieces are no new cost: hold them
  std::vector<std::unique_ptr<RawVector<std::int64_t>>> held;
  for (std::size_t i = 0; i < 64; ++i) {
    held.push_back(std::make_unique<RawVector<std::int64_t>>());
    held.back()->resize(least_mapped / sizeof(std::int64_t));
  }
  ZeroedVector<std::int64_t> values;
  values.resize(bytes / sizeof(std::int64_t));
  const std::size_t fresh = resident(values.data(), bytes);
  EXPECT_LE(fresh, bytes / 4);
  values.back() = 7;
  values[values.size() / 2] = 7;
  EXPECT_GT(resident(values.data(), bytes), fresh);
  EXPECT_LE(resident(values.data(), bytes), fresh + 2 * least_mapped);
  EXPECT_EQ(values[1], 0);
}

TEST(ZeroedVector, copies_hold_values_of_their_own) {
  ZeroedVector<std::int32_t> values;
  values.resize(least_mapped);
  values[5] = 9;
  ZeroedVector<std::int32_t> copy = values;
  EXPECT_EQ(copy, values);
  copy[5] = 8;
  EXPECT_EQ(values[5], 9);
  EXPECT_NE(copy, values);
}

TEST(Storage, threads_never_share_a_piece) {
  std::vector<std::thread> threads;
  std::vector<int> clashes(4);
  for (std::size_t id = 0; id < clashes.size(); ++id) {
    threads.emplace_back([&clash = clashes[id], id] {
      for (std::size_t round = 0; round < 20; ++round) {
        const std::size_t count = (least_mapped + round * mebibyte / 4 + id) / sizeof(std::uint64_t);
        RawVector<std::uint64_t> values;
        values.resize(count);
        std::ranges::fill(values, id);
        std::this_thread::yield();
        clash += static_cast<int>(std::ranges::count_if(values, [&](std::uint64_t v) { return v != id; }));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(clashes, std::vector<int>(4));
}

TEST(BlockBuffer, is_empty_or_aligned) {
  struct alignas(64) Block {
    std::uint64_t values[8];
  };
  EXPECT_TRUE(BlockBuffer<Block>().empty());
  const BlockBuffer<Block> blocks(3);
  EXPECT_FALSE(blocks.empty());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blocks.data()) % 64, 0U);
}

}  // namespace
}  // namespace tessera::test
