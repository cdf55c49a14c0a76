#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "files/temporary.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// Names the processes that see each other: containers may share a host's name, but not its process numbers.
std::string place() {
  char host[65] = {};
  (void)::gethostname(host, sizeof host - 1);
  std::string name(host);
  std::ranges::replace(name, '/', '_');
  struct stat processes {};
  return ::stat("/proc/self/ns/pid", &processes) == 0 ? name + "." + std::to_string(processes.st_ino) : name;
}

/// What all temporary names for `target` that are made here begin with.
std::string prefix(const fs::path& target) { return target.filename().string() + ".partial-" + place() + "-"; }

/// The process that `digits` names certainly does not exist.
bool is_gone(std::string_view digits) {
  pid_t process = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), process);
  return error == std::errc{} && end == digits.data() + digits.size() && process > 0 && ::kill(process, 0) != 0 &&
         errno == ESRCH;
}

/// Never destroyed: a process may be told to end while it ends.
struct Registry {
  std::recursive_mutex mutex;
  std::set<fs::path> paths;
};
Registry& registry() {
  static Registry& only = *new Registry;
  return only;
}

}  // namespace

void register_temporary(const fs::path& path) {
  const auto lock = hold_temporaries();
  registry().paths.insert(path);
}

void unregister_temporary(const fs::path& path) noexcept {
  const auto lock = hold_temporaries();
  registry().paths.erase(path);
}

std::unique_lock<std::recursive_mutex> hold_temporaries() { return std::unique_lock(registry().mutex); }

void remove_temporaries() noexcept {
  registry().mutex.lock();  // for good
  // other ranks may still write into a directory; mpirun gives all of them a second
  constexpr int attempts = 20;
  constexpr std::chrono::milliseconds pause{25};
  for (const fs::path& path : registry().paths) {
    for (int attempt = 0; attempt < attempts; ++attempt) {
      std::error_code ignored;
      fs::remove_all(path, ignored);
      if (!fs::exists(path, ignored)) {
        break;
      }
      std::this_thread::sleep_for(pause);
    }
  }
}

fs::path temporary_beside(const fs::path& target) {
  return target.parent_path() / (prefix(target) + std::to_string(::getpid()));
}

void remove_stale_beside(const fs::path& target) noexcept {
  try {
    const std::string begin = prefix(target);
    const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
    std::vector<fs::path> stale;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(begin) && is_gone(std::string_view(name).substr(begin.size()))) {
        stale.push_back(entry.path());
      }
    }
    for (const fs::path& path : stale) {
      std::error_code ignored;
      fs::remove_all(path, ignored);
    }
  } catch (const std::exception&) {  // a folder that cannot be read: writing to it says what is wrong
    return;
  }
}

}  // namespace tessera
