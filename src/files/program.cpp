#include "files/program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/errors.hpp"

namespace tessera {
namespace {

/// A file without a name.
File unnamed_file() {
  File file(std::tmpfile(), &std::fclose);
  if (!file) {
    throw JobError(std::string("a temporary file cannot be made: ") + std::strerror(errno));
  }
  ::fcntl(fileno(file.get()), F_SETFD, FD_CLOEXEC);
  return file;
}

}  // namespace

EndedProgram run_program(std::vector<std::string> arguments, const std::string& input) {
  const File given = unnamed_file();
  File output = unnamed_file(), errors = unnamed_file();
  if (std::fwrite(input.data(), 1, input.size(), given.get()) != input.size() || std::fflush(given.get()) != 0) {
    throw JobError(std::string("a temporary file cannot be written: ") + std::strerror(errno));
  }
  std::rewind(given.get());
  std::vector<char*> words(arguments.size() + 1, nullptr);
  std::ranges::transform(arguments, words.begin(), [](std::string& argument) { return argument.data(); });
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(given.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(output.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(errors.get()), STDERR_FILENO);
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, words.front(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw std::system_error(failure, std::generic_category(), arguments.front());
  }
  const ProcessEnd end = ProcessEnd::of(child);
  std::rewind(output.get());
  std::rewind(errors.get());
  return {end, std::move(output), std::move(errors)};
}

}  // namespace tessera
