#include "cli/interruption.hpp"

#include <unistd.h>

#include <csignal>
#include <cstring>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>
#include <thread>

#include "files/pipe.hpp"
#include "files/temporary.hpp"

namespace tessera::cli {
namespace {

int write_end = -1;  // of the pipe from the handler to the thread

/// All that a handler may do; the thread does the rest.
void tell(int signal) {
  const auto byte = static_cast<unsigned char>(signal);
  (void)!::write(write_end, &byte, 1);
}

[[noreturn]] void end_process(int signal) {
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
  constexpr int by_signal = 128;  // as shells say it
  std::_Exit(by_signal + signal);
}

void wait_for_signal(int read_end, bool speaks) {
  unsigned char signal = 0;
  while (::read(read_end, &signal, 1) != 1) {
  }
  if (speaks) {
    const std::string line = std::string(::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "") +
                             "tessera: interrupted by SIG" + sigabbrev_np(signal) + "\n";
    (void)!::write(STDERR_FILENO, line.data(), line.size());
  }
  remove_temporaries();
  end_process(signal);
}

}  // namespace

void end_cleanly_on_signals(bool speaks) {
  int read_end = -1;
  try {
    Pipe pipe;
    write_end = pipe.to.release();  // as long as the process lives
    read_end = pipe.from.release();
  } catch (const std::system_error&) {
    return;  // signals end the process as they do without this
  }
  std::thread(wait_for_signal, read_end, speaks).detach();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) {
      struct sigaction action {};
      action.sa_handler = tell;
      action.sa_flags = SA_RESTART;
      sigaction(signal, &action, nullptr);
    }
  }
}

}  // namespace tessera::cli
