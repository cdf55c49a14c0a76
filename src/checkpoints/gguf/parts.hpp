#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace tessera {

/// Keys of a file in parts: how many there are, the number of this one from 0 on, the number of all tensors.
inline constexpr const char* split_count = "split.count";
inline constexpr const char* split_number = "split.no";
inline constexpr const char* split_tensors = "split.tensors.count";

/// The `count` parts of a file by the name of the first, <name>-00001-of-<count with five digits>.gguf. Throws
/// InputError unless `first` is such a name.
std::vector<std::filesystem::path> parts_of(const std::filesystem::path& first, std::uint64_t count);

/// Whether these file names are those of all parts of one file, by ascending number.
bool are_parts(const std::vector<std::string>& names);

}  // namespace tessera
