#pragma once

#include <string>

namespace tessera::cli {

/// What describe_file() says, as a JSON document for programs: everything that it tells of a proof, in whole.
std::string describe_file_as_json(const std::string& path, bool check);

}  // namespace tessera::cli
