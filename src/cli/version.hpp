#pragma once

#include <string>

#include <tessera/verify.h>

namespace tessera::cli {

// In a file that build/revision.cmake writes:
extern const char* const build_type;
extern const char* const revision;  // that the program was built from; empty if that is not known

/// "tessera 0.1.0, format version 3, g++ 12.2.0, Release, revision 8e6c9eb1d2f3": the release, the version of files and
/// proofs, the compiler, the kind of build, the revision where it is known.
inline std::string version_of(const std::string& program) {
#ifdef __clang__
  const std::string compiler = "clang++ " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  const std::string built_from = revision;
  return program + " " + tessera_version() + ", format version " + std::to_string(tessera_format_version()) + ", " +
         compiler + ", " + build_type + (built_from.empty() ? "" : ", revision " + built_from);
}

}  // namespace tessera::cli
