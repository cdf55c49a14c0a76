#include "cli/verify_workers.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <list>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "files/child.hpp"

namespace tessera::cli {
namespace {

struct Task {
  std::size_t index = 0;
  bool started = false;
  std::optional<Outcome> outcome;
};
using Order = std::list<Task>;

/// A child at work.
struct Worker {
  Order::iterator piece;
  Child child;
  std::string text;
};

std::string describe_end(const ProcessEnd& end) {
  return end.signal() != 0 ? "the process that verified it was ended by signal " + std::to_string(end.signal())
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

  /// Starts the next piece. Throws std::system_error if the system has no process or pipe for it now.
  void start_next() {
    // a status of 0 says that the result is complete
    Child child([this](int to) {
      for (Worker& other : workers_) {
        other.child.stop_listening();
      }
      return write_all(to, work_.work(next_->index)) ? 0 : 1;
    });
    workers_.push_back({next_, std::move(child), {}});
    next_->started = true;
    advance();
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
      waiting.push_back({worker.child.from(), POLLIN, 0});
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
    const ssize_t count = ::read(worker.child.from(), buffer.data(), buffer.size());
    if (count > 0) {
      worker.text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return count > 0 || (count < 0 && errno == EINTR);
  }

  void end(Worker& worker) {
    const ProcessEnd end = worker.child.wait();
    finish(worker.piece, {end.good(), end.good() ? std::move(worker.text) : describe_end(end)});
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
      try {
        pool.start_next();
        continue;
      } catch (const std::system_error& error) {
        if (pool.running() == 0) {  // nobody whose end could make room
          pool.fail_next("no process to verify it: " + error.code().message());
          continue;
        }
      }
    }
    pool.listen();
  }
  if (!pool.all_taken()) {
    throw std::logic_error("run_in_processes: pieces without results");
  }
}

}  // namespace tessera::cli
