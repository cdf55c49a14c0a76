#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "files/descriptor.hpp"
#include "files/process_end.hpp"

namespace tessera {

/// What a child said until it was listened to no longer.
struct Answer {
  std::vector<std::uint8_t> bytes;
  bool ended = false;  // all of it: the child has closed its end
  bool late = false;   // the time was over first
};

/// A process that has the memory of the one that starts it, as it is then, and answers through a pipe. It ends when
/// that one does, and when nobody has it any more. Not for processes that have threads at work: the child has the
/// calling one only.
class Child {
 public:
  using Clock = std::chrono::steady_clock;
  /// `life` is all that the child does: it writes to the number that it is given and returns the exit status, which is
  /// 1 if it throws. Throws std::system_error, "pipe: " or "fork: " and why.
  explicit Child(const std::function<int(int to)>& life);
  ~Child();
  Child(Child&& other) noexcept : process_(std::exchange(other.process_, -1)), from_(std::move(other.from_)) {}
  Child& operator=(Child&& other) noexcept;

  /// Where its answer is read; the other end is closed when the child ends, however it does.
  [[nodiscard]] int from() const { return from_.number(); }
  /// Closes this end of the pipe: also in another child, which has it from the process that started both.
  void stop_listening() noexcept { from_.close(); }
  /// Reads until the child ends, the time is over or the answer has more than `most` bytes.
  Answer listen(Clock::time_point deadline, std::size_t most);
  void kill() noexcept;
  /// Stops listening and waits for its end.
  ProcessEnd wait() noexcept;

 private:
  pid_t process_ = -1;
  Descriptor from_;
};

}  // namespace tessera
