#pragma once

#include "cli/path_options.hpp"

namespace tessera::cli {

/// Throws InputError unless all that the given options say is written may be: no output is an input or another output,
/// whatever names lead to them, and what is replaced is of the same kind. Nothing has been done before that.
void check_paths(const PathOptions& paths);

}  // namespace tessera::cli
