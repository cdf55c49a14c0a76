#include "files/child.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "files/pipe.hpp"

namespace tessera {

Child::Child(const std::function<int(int to)>& life) {
  Pipe pipe;
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

Answer Child::listen(Clock::time_point deadline, std::size_t most) {
  Answer answer;
  answer.bytes.reserve(std::size_t{1} << 23);  // of addresses: most answers grow without being copied
  std::vector<std::uint8_t> buffer(std::size_t{1} << 16);
  while (!answer.ended && !answer.late && answer.bytes.size() <= most) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting{from(), POLLIN, 0};
    const int ready = left <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(std::min<decltype(left)>(left, 1000)));
    answer.late = left <= 0;
    const ssize_t count = ready > 0 ? ::read(from(), buffer.data(), buffer.size()) : -1;
    answer.ended = count == 0;
    answer.bytes.insert(answer.bytes.end(), buffer.begin(), buffer.begin() + std::max<ssize_t>(count, 0));
  }
  return answer;
}

void Child::kill() noexcept { ::kill(process_, SIGKILL); }

ProcessEnd Child::wait() noexcept {
  stop_listening();
  return ProcessEnd::of(std::exchange(process_, -1));
}

}  // namespace tessera
