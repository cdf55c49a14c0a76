#include "files/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <memory>
#include <system_error>

#include "files/pipe.hpp"

namespace tessera {

Child::Child(const std::function<int(int to)>& life) {
  Pipe pipe;
  constexpr int pipe_bytes = 1 << 20;  // both work at the same time; where that is too much, in shorter turns
  ::fcntl(pipe.to.number(), F_SETPIPE_SZ, pipe_bytes);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) {
      _exit(1);  // it has died before that
    }
    pipe.from.close();
    try {
      _exit(life(pipe.to.number()));
    } catch (...) {
      _exit(1);
    }
  }
  from_ = std::move(pipe.from);  // the other end is closed here, so that no later child has it
}

Child::~Child() {
  if (process_ > 0) {
    kill();
    wait();
  }
}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(from_, other.from_);
  return *this;
}

namespace {

/// Asks for huge pages behind an answer that has become long, up to the memory kept for it: it is filled in less time.
void expect_more(std::vector<std::uint8_t>& bytes) {
  constexpr std::size_t huge = std::size_t{1} << 21U;
  void* begin = bytes.data() + bytes.size();
  std::size_t space = bytes.capacity() - bytes.size();
  if (bytes.size() >= huge && std::align(huge, huge, begin, space) != nullptr) {
    ::madvise(begin, space / huge * huge, MADV_HUGEPAGE);
  }
}

}  // namespace

Answer Child::listen(Clock::time_point deadline, std::size_t most) {
  constexpr std::size_t least = std::size_t{1} << 16U, more = std::size_t{1} << 20U;
  Answer answer;
  std::vector<std::uint8_t>& bytes = answer.bytes;
  bytes.reserve(std::size_t{1} << 25U);  // of addresses: most answers grow without being copied
  std::size_t filled = 0;
  while (!answer.ended && !answer.late && filled <= most) {
    if (bytes.size() - filled < least) {
      bytes.resize(filled + more);
      expect_more(bytes);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{from(), POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(std::min<decltype(left)>(left, 1000)));
    answer.late = left <= 0;
    const std::size_t room = std::min(bytes.size() - filled, most + 1 - filled);
    const ssize_t count = ready > 0 ? ::read(from(), bytes.data() + filled, room) : -1;
    answer.ended = count == 0;
    filled += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  bytes.resize(filled);
  return answer;
}

void Child::kill() noexcept { ::kill(process_, SIGKILL); }

ProcessEnd Child::wait() noexcept {
  stop_listening();
  return ProcessEnd::of(std::exchange(process_, -1));
}

}  // namespace tessera
