#pragma once

#include <filesystem>
#include <string>

/// \file
/// Names of a stored codeword's files and datasets.

namespace tessera {

/// Level whose nodes a compact codeword of parameters has: opened columns are computed with the 2^level - 1 beside
/// each.
inline constexpr unsigned compact_parameter_level = 3;

inline std::string padded(std::size_t number, std::size_t digits) {
  std::string text = std::to_string(number);
  return std::string(digits > text.size() ? digits - text.size() : 0, '0') + text;
}
inline std::string level_name(unsigned level) { return "tree/level-" + padded(level, 2); }
inline std::filesystem::path shard_path(const std::filesystem::path& directory, std::size_t shard) {
  return directory / ("codeword-" + padded(shard, 5) + ".h5");
}

}  // namespace tessera
