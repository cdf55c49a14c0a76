#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "files/child.hpp"

namespace tessera::test {
namespace {

constexpr std::chrono::seconds long_enough{60};
constexpr std::size_t most = std::size_t{1} << 20;

Answer listen_long(Child& child, std::size_t bytes = most) {
  return child.listen(Child::Clock::now() + long_enough, bytes);
}

/// Until somebody ends it.
int wait_forever(int /*to*/) {
  for (;;) {
    ::pause();
  }
}

bool exists(pid_t process) { return ::kill(process, 0) == 0; }

TEST(Child, answers_and_ends) {
  Child child([](int to) { return write_all(to, std::string(200000, 'x')) ? 0 : 1; });
  const Answer answer = listen_long(child);
  EXPECT_TRUE(answer.ended);
  EXPECT_FALSE(answer.late);
  EXPECT_EQ(answer.bytes, std::vector<std::uint8_t>(200000, 'x'));
  const ProcessEnd end = child.wait();
  EXPECT_TRUE(end.good());
  EXPECT_EQ(end.signal(), 0);
}

TEST(Child, ends_are_told) {
  const ProcessEnd status = Child([](int /*to*/) { return 3; }).wait();
  EXPECT_FALSE(status.good());
  EXPECT_EQ(status.signal(), 0);
  const ProcessEnd thrown = Child([](int /*to*/) -> int { throw std::runtime_error("something"); }).wait();
  EXPECT_FALSE(thrown.good());
  EXPECT_EQ(thrown.signal(), 0);
  const ProcessEnd ended = Child([](int /*to*/) { return ::raise(SIGKILL); }).wait();
  EXPECT_FALSE(ended.good());
  EXPECT_EQ(ended.signal(), SIGKILL);
}

TEST(Child, is_not_waited_for_beyond_the_time) {
  Child child([](int to) { return write_all(to, "begun") ? wait_forever(to) : 1; });
  const Answer answer = child.listen(Child::Clock::now() + std::chrono::milliseconds(300), most);
  EXPECT_TRUE(answer.late);
  EXPECT_FALSE(answer.ended);
  EXPECT_EQ(answer.bytes.size(), 5U);
  child.kill();
  EXPECT_EQ(child.wait().signal(), SIGKILL);
}

TEST(Child, is_not_listened_to_beyond_so_many_bytes) {
  Child child([](int to) {
    while (write_all(to, std::string(1000, 'x'))) {
    }
    return 1;
  });
  const Answer answer = listen_long(child, 100000);
  EXPECT_FALSE(answer.ended || answer.late);
  EXPECT_GT(answer.bytes.size(), 100000U);
  EXPECT_LE(answer.bytes.size(), 200000U);
  EXPECT_FALSE(child.wait().good());  // nobody reads
}

TEST(Child, ends_with_its_owner) {
  pid_t process = 0;
  {
    Child child([](int to) {
      const pid_t own = ::getpid();
      return write_all(to, {reinterpret_cast<const char*>(&own), sizeof own}) ? wait_forever(to) : 1;
    });
    ASSERT_EQ(::read(child.from(), &process, sizeof process), static_cast<ssize_t>(sizeof process));
    EXPECT_TRUE(exists(process));
    Child other = std::move(child);
    EXPECT_TRUE(exists(process));
  }
  EXPECT_FALSE(exists(process));
}

TEST(Child, ends_with_the_process_that_started_it) {
  Child parent([](int to) -> int {
    const Child inner([to](int /*to*/) { return wait_forever(to); });
    ::_exit(write_all(to, "x") ? 0 : 1);
  });
  const Answer answer = listen_long(parent);  // ends when both have closed the pipe
  EXPECT_TRUE(answer.ended);
  EXPECT_TRUE(parent.wait().good());
}

}  // namespace
}  // namespace tessera::test
