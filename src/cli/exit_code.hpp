#pragma once

#include <exception>
#include <string>

namespace tessera::cli {

/// What the programs return: 0 done or accepted, 1 proof rejected, 2 wrong usage or unusable input, 3 job failed.
enum ExitCode : int { done = 0, rejected = 1, unusable = 2, failed = 3 };

struct Failure {
  ExitCode code = failed;
  std::string message;  // one line
};

/// The one place where errors become exit codes.
Failure describe(const std::exception_ptr& error);

/// Full disks and closed pipes come back as errors of the calls instead of ending the program.
void ignore_write_signals();

}  // namespace tessera::cli
