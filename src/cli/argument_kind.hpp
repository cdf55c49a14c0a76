#pragma once

namespace tessera::cli {

// Names of types of options, as help shows them, by which completion knows what to complete.
inline constexpr const char* file_argument = "FILE";
inline constexpr const char* directory_argument = "DIRECTORY";
inline constexpr const char* path_argument = "PATH";  // files and directories

}  // namespace tessera::cli
