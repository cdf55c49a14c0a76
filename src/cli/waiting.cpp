#include "cli/waiting.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

extern char** environ;

namespace tessera::cli {
namespace {

/// Runs the program again unless somebody has chosen what waiting threads do. Before main() it may call nothing that a
/// library has to make ready.
void choose(char** argv, char** environment) {
  static constexpr std::array choices = {"OMP_WAIT_POLICY=passive", "GOMP_SPINCOUNT=10000"};
  static constexpr std::string_view blas = "OPENBLAS_NUM_THREADS=";
  std::vector<char*> all;
  bool threads_of_blas = false;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (std::ranges::any_of(choices, [&](std::string_view choice) {
          return entry.starts_with(choice.substr(0, choice.find('=') + 1));
        })) {
      return;
    }
    threads_of_blas = threads_of_blas || entry.starts_with(blas);
    all.push_back(*environment);
  }
  for (const char* const choice : choices) {
    all.push_back(const_cast<char*>(choice));
  }
  if (!threads_of_blas) {
    static constexpr const char* one = "OPENBLAS_NUM_THREADS=1";
    all.push_back(const_cast<char*>(one));
  }
  all.push_back(nullptr);
  ::execve("/proc/self/exe", argv, all.data());
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void choose_early(int /*argc*/, char** argv, char** environment) { choose(argv, environment); }

/// The dynamic linker calls what an executable has here when everything is loaded and no library has begun.
[[gnu::used, gnu::section(".preinit_array")]] void (*const before_libraries)(int, char**, char**) = choose_early;
#endif

}  // namespace

void let_waiting_threads_sleep(char** argv) { choose(argv, environ); }

}  // namespace tessera::cli
