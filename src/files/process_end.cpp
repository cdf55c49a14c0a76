#include "files/process_end.hpp"

#include <sys/wait.h>

#include <cerrno>

namespace tessera {

ProcessEnd ProcessEnd::of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return ProcessEnd(status);
}

bool ProcessEnd::good() const { return WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }

int ProcessEnd::signal() const { return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0; }

}  // namespace tessera
