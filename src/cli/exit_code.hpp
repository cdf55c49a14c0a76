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

/// Turns an error into exit code and message; nothing else does so.
Failure describe(const std::exception_ptr& error);

/// Standard streams that whoever started the program has closed are opened, such that nothing can be read or written:
/// no file that is opened later gets what is printed. Before anything else.
void occupy_standard_streams();

/// `code`, or that the job failed if what was printed did not get to standard output, which a line of error says.
int after_output(const char* program, int code);

/// Full disks and closed pipes come back as errors of the calls instead of ending the program.
void ignore_write_signals();

}  // namespace tessera::cli
