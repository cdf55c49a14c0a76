#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace tessera::cli {

/// What a process gave: its result, or how it ended without one.
struct Outcome {
  bool complete = false;
  std::string text;
};

/// What processes do, and what becomes of their results. All but work() is called in the process that starts them.
struct Work {
  std::function<std::string(std::size_t)> work;
  /// A result that says that its piece is really several: their number, which the caller adds to its pieces; 0: it is
  /// one. They take the piece's place in the order.
  std::function<std::size_t(std::size_t, const Outcome&)> divide;
  /// Results in order, as soon as that allows.
  std::function<void(std::size_t, const Outcome&)> take;
};

/// Calls work(0) … work(count - 1), and those of pieces that come in between, each in a child process of its own, which
/// has this one's memory as it is then, at most `jobs` at a time. A child that dies costs its own result alone; if this
/// process dies, so do its children.
/// Flush streams before; not for processes that have threads at work.
void run_in_processes(std::size_t count, std::size_t jobs, const Work& work);

}  // namespace tessera::cli
