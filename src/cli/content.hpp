#pragma once

#include <filesystem>
#include <string>

#include "cli/path_options.hpp"

namespace tessera::cli {

/// "a model file": what a file of this content is called.
std::string name_of(Content content);

/// Where a file stands that a command would write.
enum class Place : std::uint8_t {
  anywhere,
  own_name,     // under a name that tessera gives, in a directory of ours: one that is damaged is ours all the same
  among_inputs  // in a directory that the command reads: lines are added to nothing but what certainly is a log
};

/// What a regular file is called that a command must not replace by one of this content, as "a proof file"; nothing if
/// it may: the file is empty or holds such a thing already, whole or not.
std::optional<std::string> other_content(const std::filesystem::path& file, Content content, Place place);

}  // namespace tessera::cli
