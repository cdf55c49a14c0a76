#include "cli/waiting.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tessera::cli {

void let_waiting_threads_sleep(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) {
    return;
  }
  ::setenv("OMP_WAIT_POLICY", "passive", 0);
  ::setenv("GOMP_SPINCOUNT", "10000", 0);
  ::execv("/proc/self/exe", argv);
}

}  // namespace tessera::cli
