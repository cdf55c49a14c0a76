#pragma once

#include "cli/cli11.hpp"
#include "cli/path_options.hpp"
#include "cli/verify_request.hpp"

namespace tessera::cli {

/// What tessera-verify is called with. With `each`, proofs are files and directories that have nothing to do with each
/// other.
struct VerifyOptions : Conversation {
  bool each = false;
  std::size_t jobs = 0;  // 0: the cores
  bool json = false;
  PathOptions paths;
};

/// Options of tessera-verify, which are filled in when it parses: help, manual page and completion are made from them.
void declare(CLI::App& program, VerifyOptions& options);

}  // namespace tessera::cli
