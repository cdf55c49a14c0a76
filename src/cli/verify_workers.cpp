#include "cli/verify_workers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <map>
#include <span>
#include <vector>

namespace tessera::cli {
namespace {

/// A child at work; `from` is closed by the other end when it ends, however it does.
struct Worker {
  std::size_t index = 0;
  pid_t process = -1;
  int from = -1;
  std::string text;
};

bool write_all(int to, std::span<const char> text) {
  while (!text.empty()) {
    const ssize_t count = ::write(to, text.data(), text.size());
    if (count <= 0 && errno != EINTR) {
      return false;
    }
    text = text.subspan(static_cast<std::size_t>(count < 0 ? 0 : count));
  }
  return true;
}

/// Never returns: the child's whole life. A status of 0 says that the result is complete.
[[noreturn]] void work_in_child(pid_t parent, int to, const std::function<std::string()>& work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    _exit(1);  // it has died before that
  }
  try {
    _exit(write_all(to, work()) ? 0 : 1);
  } catch (...) {
    _exit(1);
  }
}

std::string describe_end(int status) {
  return WIFSIGNALED(status) ? "the process that verified it was ended by signal " + std::to_string(WTERMSIG(status))
                             : std::string("the process that verified it gave no result");
}

class Pool {
 public:
  Pool(const std::function<std::string(std::size_t)>& work,
       const std::function<void(std::size_t, const Outcome&)>& take)
      : work_(work), take_(take) {}

  [[nodiscard]] std::size_t running() const { return workers_.size(); }

  /// False if the system has no process or pipe for it now; errno says why.
  bool start(std::size_t index) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      return false;
    }
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
      const int error = errno;
      ::close(ends[0]);
      ::close(ends[1]);
      errno = error;
      return false;
    }
    if (child == 0) {
      ::close(ends[0]);
      for (const Worker& other : workers_) {
        ::close(other.from);
      }
      work_in_child(parent, ends[1], [&] { return work_(index); });
    }
    ::close(ends[1]);  // so that no later child has it
    workers_.push_back({index, child, ends[0], {}});
    return true;
  }

  /// Waits for some child to say more or to end.
  void listen() {
    std::vector<pollfd> waiting;
    for (const Worker& worker : workers_) {
      waiting.push_back({worker.from, POLLIN, 0});
    }
    if (::poll(waiting.data(), waiting.size(), -1) <= 0) {
      return;
    }
    for (std::size_t i = workers_.size(); i-- > 0;) {  // backwards: those that have ended are taken out
      if (waiting[i].revents != 0 && !read_some(workers_[i])) {
        end(workers_[i]);
        workers_.erase(workers_.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  /// Results are handed on in order.
  void finish(std::size_t index, Outcome outcome) {
    waiting_.emplace(index, std::move(outcome));
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_; ++next_) {
      take_(first->first, first->second);
      first = waiting_.erase(first);
    }
  }

 private:
  static bool read_some(Worker& worker) {
    std::array<char, 1 << 16> buffer{};
    const ssize_t count = ::read(worker.from, buffer.data(), buffer.size());
    if (count > 0) {
      worker.text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return count > 0 || (count < 0 && errno == EINTR);
  }

  void end(Worker& worker) {
    ::close(worker.from);
    int status = 0;
    while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
    }
    const bool complete = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    finish(worker.index, {complete, complete ? std::move(worker.text) : describe_end(status)});
  }

  const std::function<std::string(std::size_t)>& work_;
  const std::function<void(std::size_t, const Outcome&)>& take_;
  std::vector<Worker> workers_;
  std::map<std::size_t, Outcome> waiting_;  // for those before them
  std::size_t next_ = 0;
};

}  // namespace

void run_in_processes(std::size_t count, std::size_t jobs, const std::function<std::string(std::size_t)>& work,
                      const std::function<void(std::size_t, const Outcome&)>& take) {
  Pool pool(work, take);
  for (std::size_t next = 0; next < count || pool.running() > 0;) {
    if (next < count && pool.running() < jobs) {
      if (pool.start(next)) {
        ++next;
        continue;
      }
      if (pool.running() == 0) {  // nobody whose end could make room
        pool.finish(next++, {false, std::string("no process to verify it: ") + std::strerror(errno)});
        continue;
      }
    }
    pool.listen();
  }
}

}  // namespace tessera::cli
