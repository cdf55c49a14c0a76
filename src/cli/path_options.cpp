#include "cli/path_options.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/errors.hpp"
#include "files/descriptor.hpp"

namespace tessera::cli {
namespace {

constexpr const char* dash = "-";

CLI::Validator path_check(PathOptions::Input input, bool takes_dash) {
  return {[input, takes_dash](std::string& path) -> std::string {
            if (path.empty()) {
              return "expected a path, found an empty one";
            }
            if (path == dash && input == PathOptions::Input::named) {
              return "expected a file with a name, found - for standard input";
            }
            if (path == dash && takes_dash) {
              path = standard_input;
            }
            return {};
          },
          ""};
}

}  // namespace

CLI::Option* PathOptions::add(Entry entry, CLI::Option* option, const char* type) {
  entry.takes_dash = !entry.target && entry.input == Input::path && std::string_view(type) != directory_argument;
  entry.option = option->type_name(type)->transform(path_check(entry.input, entry.takes_dash));
  entries_.push_back(std::move(entry));
  return option;
}

CLI::Option* PathOptions::reads(CLI::Option* option, const char* type) { return add({option}, option, type); }

CLI::Option* PathOptions::reads_by_name(CLI::Option* option, const char* type) {
  return add({option, Input::named}, option, type);
}

CLI::Option* PathOptions::reads_proofs(CLI::Option* option) {
  return add({option, Input::proofs}, option, path_argument);
}

CLI::Option* PathOptions::writes(CLI::Option* option, Content content) {
  return add({option, Input::path, [content] { return Target{Target::Form::file, content}; }}, option, file_argument);
}

CLI::Option* PathOptions::writes(CLI::Option* option, std::span<const Members> members) {
  return add({option, Input::path,
              [members] {
                return Target{Target::Form::directory, {}, members};
              }},
             option, directory_argument);
}

CLI::Option* PathOptions::writes(CLI::Option* option, std::function<Target()> target) {
  return add({option, Input::path, std::move(target)}, option, path_argument);
}

void keep_standard_input(const PathOptions& paths) {
  std::ptrdiff_t wanted = 0;
  for (const PathOptions::Entry& entry : paths.entries()) {
    wanted += entry.takes_dash ? std::ranges::count(entry.option->results(), standard_input) : 0;
  }
  struct stat status {};
  if (wanted == 0 || (wanted == 1 && ::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode))) {
    return;  // a file already
  }
  if (wanted > 1) {
    throw InputError("-: expected once, found " + std::to_string(wanted) + " times: standard input is read once");
  }
  const int copy = ::memfd_create("standard input", MFD_CLOEXEC);
  if (copy < 0) {
    throw JobError(std::string("standard input cannot be kept: ") + std::strerror(errno));
  }
  std::array<char, 1 << 16> buffer{};
  for (ssize_t count = 1; count != 0;) {
    count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && errno != EINTR) {
      throw InputError(std::string("-: standard input cannot be read: ") + std::strerror(errno));
    }
    if (!write_all(copy, {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))})) {
      throw JobError(std::string("standard input cannot be kept: ") + std::strerror(errno));
    }
  }
  if (::dup2(copy, STDIN_FILENO) < 0) {
    throw JobError(std::string("standard input cannot be kept: ") + std::strerror(errno));
  }
  ::close(copy);
}

}  // namespace tessera::cli
