#pragma once

#include <string>

namespace tessera::cli {

/// What a file of ours is and what is in it, in lines for a person; with `check` also whether all digests are right.
/// Throws InputError. The file may come from anyone: to be called in a child process (read_isolated).
std::string describe_file(const std::string& path, bool check);

}  // namespace tessera::cli
