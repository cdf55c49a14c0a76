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

/// Calls work(0) … work(count - 1), each in a child process of its own, which has this one's memory as it is now, at
/// most `jobs` at a time. take(i, outcome) is called here, in the order of i, as soon as that allows. A child that dies
/// costs its own result alone; if this process dies, so do its children.
/// Flush streams before; not for processes that have threads at work.
void run_in_processes(std::size_t count, std::size_t jobs, const std::function<std::string(std::size_t)>& work,
                      const std::function<void(std::size_t, const Outcome&)>& take);

}  // namespace tessera::cli
