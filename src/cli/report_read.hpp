#pragma once

#include <string>

#include "report/page.hpp"

namespace tessera::cli {

/// A proof file with all that it tells, read by a confined child process, which also checks all digests. Throws
/// InputError.
report::Part read_part(const std::string& path);

}  // namespace tessera::cli
