#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "files/process_end.hpp"

namespace tessera {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// A program that has ended, and what it has written.
struct EndedProgram {
  ProcessEnd end;
  File output, errors;  // read from their beginnings
};

/// Runs a program of the path, the first of its arguments, on `input` and waits for its end. Throws std::system_error
/// if there is none, JobError if there is no room for what it reads and writes.
EndedProgram run_program(std::vector<std::string> arguments, const std::string& input);

}  // namespace tessera
