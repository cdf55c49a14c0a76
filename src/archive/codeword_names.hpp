#pragma once

#include <filesystem>
#include <string>

#include "archive/codeword_file.hpp"
#include "words/codeword.hpp"

/// \file
/// Names of a stored codeword's files and datasets.

namespace tessera {

inline std::string padded(std::size_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return std::string(digits > text.size() ? digits - text.size() : 0, '0') + text;
}
inline std::string level_name(unsigned level) { return "tree/level-" + padded(level, 2); }
/// Whether a shard stores a level of the tree; of a compact codeword the levels just above the leaves are hashed again.
inline bool has_level(CodewordKind kind, unsigned level) {
  return kind == CodewordKind::whole || level == 0 || level >= upper_levels;
}
inline std::filesystem::path shard_path(const std::filesystem::path& directory, std::size_t shard) {
  return directory / ("codeword-" + padded(shard, 5) + ".h5");
}

}  // namespace tessera
