#include "cli/exit_code.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <new>
#include "base/errors.hpp"
#include "base/text.hpp"
#include "transcript/verifier.hpp"

namespace tessera::cli {
/// Texts may quote a stranger's file: on one line.
Failure describe(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Rejected& e) {
    return {rejected, "REJECTED at " + e.scope() + ": " + one_line(e.what())};
  } catch (const InputError& e) {
    return {unusable, one_line(e.what())};
  } catch (const JobError& e) {
    return {failed, one_line(e.what())};
  } catch (const std::bad_alloc&) {
    return {failed, "out of memory"};
  } catch (const std::exception& e) {
    return {failed, one_line(e.what())};
  }
}

void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) {
      (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // gets the lowest number, this one
    }
  }
}

int after_output(const char* program, int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) {
    return code;
  }
  std::cerr << std::string(program) + ": standard output cannot be written\n" << std::flush;
  return failed;
}

void ignore_write_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace tessera::cli
