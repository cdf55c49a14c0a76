#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tessera::cli {

/// What tessera-verify is called with.
struct VerifyOptions {
  std::string key;
  std::vector<std::string> proofs;  // parts of one conversation, in order; with `each` files and directories
  bool each = false;
  std::size_t jobs = 0;  // 0: the cores
  bool json = false;
  std::string expect_key;
  std::vector<std::string> expect_prompt;  // of the first parts, one each
};

/// Options of tessera-verify, which are filled in when it parses: help, manual page and completion are made from them.
void declare(CLI::App& program, VerifyOptions& options);

}  // namespace tessera::cli
