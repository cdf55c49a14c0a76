#include "cli/verify_workers.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <list>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "cli/write_all.hpp"

namespace tessera::cli {
namespace {

struct Task {
  std::size_t index = 0;
  bool started = false;
  std::optional<Outcome> outcome;
};
using Order = std::list<Task>;

/// A child at work; `from` is closed by the other end when it ends, however it does.
struct Worker {
  Order::iterator piece;
  pid_t process = -1;
  int from = -1;
  std::string text;
};

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
  Pool(std::size_t count, const Work& work) : work_(work), count_(count) {
    for (std::size_t i = 0; i < count; ++i) {
      order_.push_back({i, false, {}});
    }
    next_ = order_.begin();
  }

  [[nodiscard]] std::size_t running() const { return workers_.size(); }
  [[nodiscard]] bool all_taken() const { return order_.empty(); }
  [[nodiscard]] bool has_next() const { return next_ != order_.end(); }

  /// Starts the next piece. False if the system has no process or pipe for it now; errno says why.
  bool start_next() {
    if (!start(next_)) {
      return false;
    }
    advance();
    return true;
  }

  /// Gives the next piece up.
  void fail_next(const std::string& reason) {
    const auto piece = next_;
    piece->started = true;
    advance();
    finish(piece, {false, reason});
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

 private:
  bool start(Order::iterator piece) {
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
      work_in_child(parent, ends[1], [&] { return work_.work(piece->index); });
    }
    ::close(ends[1]);  // so that no later child has it
    workers_.push_back({piece, child, ends[0], {}});
    piece->started = true;
    return true;
  }

  void advance() {
    while (next_ != order_.end() && next_->started) {
      ++next_;
    }
  }

  void finish(Order::iterator piece, Outcome outcome) {
    piece->outcome = std::move(outcome);
    if (const std::size_t parts = work_.divide(piece->index, *piece->outcome); parts > 0) {
      for (std::size_t i = 0; i < parts; ++i) {
        order_.insert(piece, {count_++, false, {}});
      }
      order_.erase(piece);
      next_ = std::ranges::find(order_, false, &Task::started);  // maybe one of an earlier piece's parts
    }
    for (auto first = order_.begin(); first != order_.end() && first->outcome; first = order_.erase(first)) {
      work_.take(first->index, *first->outcome);
    }
  }

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
    finish(worker.piece, {complete, complete ? std::move(worker.text) : describe_end(status)});
  }

  const Work& work_;
  std::size_t count_;     // of all pieces that there have been
  Order order_;           // those whose results have not been taken
  Order::iterator next_;  // the first that has not been started
  std::vector<Worker> workers_;
};

}  // namespace

void run_in_processes(std::size_t count, std::size_t jobs, const Work& work) {
  Pool pool(count, work);
  while (pool.has_next() || pool.running() > 0) {
    if (pool.has_next() && pool.running() < jobs) {
      if (pool.start_next()) {
        continue;
      }
      if (pool.running() == 0) {  // nobody whose end could make room
        pool.fail_next(std::string("no process to verify it: ") + std::strerror(errno));
        continue;
      }
    }
    pool.listen();
  }
  if (!pool.all_taken()) {
    throw std::logic_error("run_in_processes: pieces without results");
  }
}

}  // namespace tessera::cli
