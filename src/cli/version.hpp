#pragma once

#include <string>

#include <tessera/verify.h>

namespace tessera::cli {

/// "tessera 0.1.0, format version 3, g++ 12.2.0": the release, the version of files and proofs, the compiler.
inline std::string version_of(const std::string& program) {
#ifdef __clang__
  const std::string compiler = "clang++ " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  return program + " " + tessera_version() + ", format version " + std::to_string(tessera_format_version()) + ", " +
         compiler;
}

}  // namespace tessera::cli
