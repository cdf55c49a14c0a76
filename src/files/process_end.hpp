#pragma once

#include <sys/types.h>

namespace tessera {

/// How a process ended.
class ProcessEnd {
 public:
  /// Waits for a child of this process.
  static ProcessEnd of(pid_t child);
  /// By itself, with the exit status 0.
  [[nodiscard]] bool good() const;
  /// The signal that ended it; 0: it ended by itself.
  [[nodiscard]] int signal() const;

 private:
  explicit ProcessEnd(int status) : status_(status) {}
  int status_;
};

}  // namespace tessera
