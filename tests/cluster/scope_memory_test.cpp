#include <gtest/gtest.h>

#include "cluster/scope_memory.hpp"
#include "cluster/thread_communicator.hpp"

namespace tessera::test {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

/// Memory that comes and goes.
void touch(std::uint64_t mebibytes) {
  const std::vector<char> bytes(mebibytes * mebibyte, 1);
  ASSERT_EQ(*static_cast<const volatile char*>(&bytes.back()), 1);
}

TEST(ScopeMemory, every_scope_has_its_own_peak) {
  ScopeMemory memory;
  memory.begin("/");
  memory.begin("/large");
  touch(256);
  memory.begin("/large/inner");
  touch(32);
  memory.end();
  memory.end();
  memory.begin("/small");
  memory.end();
  memory.end();
  EXPECT_GT(memory.peak("/small"), 0U);
  EXPECT_GE(memory.peak("/large"), memory.peak("/large/inner"));
  EXPECT_EQ(memory.peak("/other"), 0U);
  EXPECT_GE(memory.process_peak(), memory.peak("/"));
  if (memory.measure() != "high-water mark") {
    GTEST_SKIP() << "this kernel does not let a process set its mark back";
  }
  EXPECT_GE(memory.peak("/large"), memory.peak("/small") + 200 * mebibyte);
  EXPECT_GE(memory.peak("/large"), memory.peak("/large/inner") + 200 * mebibyte);
  EXPECT_EQ(memory.peak("/"), memory.peak("/large"));
}

TEST(ScopeMemory, the_same_scope_again_keeps_the_larger_peak) {
  ScopeMemory memory;
  for (const std::uint64_t mebibytes : {128, 1}) {
    memory.begin("/twice");
    touch(mebibytes);
    memory.end();
    EXPECT_TRUE(memory.measure() != "high-water mark" || memory.peak("/twice") >= 128 * mebibyte);
  }
}

TEST(ScopeMemory, the_peak_of_the_process_includes_what_came_before) {
  touch(200);
  ScopeMemory memory;
  memory.begin("/later");
  memory.end();
  EXPECT_GE(memory.process_peak(), 200 * mebibyte);
}

TEST(ScopeMemory, reduces_to_the_largest_rank) {
  std::array<std::uint64_t, 3> peaks{};
  run_ranks(3, [&](Communicator& comm) {
    ScopeMemory memory;
    memory.begin("/part");
    memory.end();
    memory.reduce(comm);
    peaks.at(static_cast<std::size_t>(comm.rank())) = memory.peak("/part");
  });
  EXPECT_GT(peaks[0], 0U);
  EXPECT_EQ(peaks[0], peaks[1]);
  EXPECT_EQ(peaks[0], peaks[2]);
}

}  // namespace
}  // namespace tessera::test
