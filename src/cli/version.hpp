#pragma once

#include <string>

#include "plan/key.hpp"

namespace tessera::cli {

/// "tessera 0.1.0, format version 3, g++ 12.2.0": the release, the version of files and proofs, the compiler.
inline std::string version_of(const std::string& program) {
#ifdef __clang__
  const std::string compiler = "clang++ " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  return program + " " TESSERA_VERSION ", format version " + std::to_string(format_version) + ", " + compiler;
}

}  // namespace tessera::cli
