#pragma once

#include "datasets/image_file.hpp"
#include "plan/key.hpp"
#include "plan/limits.hpp"

namespace tessera {

inline constexpr std::string_view key_format = "tessera verifying key";
/// Tables, names, numbers and powers of equalisation are below 128 MiB; the rest is vocabulary, its lengths and merges.
inline constexpr std::uint64_t max_key_bytes =
    max_vocabulary_bytes + max_vocabulary * 4 + max_merges * sizeof(Merge) + (1 << 27);
inline constexpr std::uint64_t max_key_file_bytes = 4 * max_key_bytes;

/// The canonical bytes of the key in a file of format key_format, not decoded: nothing else there is the key's.
std::vector<std::uint8_t> read_key_bytes(const DatasetFile& file);
/// The canonical bytes of the key, not decoded and not copied: where they lie in the file's image.
std::span<const std::uint8_t> key_bytes_in(const ImageFile& file);

}  // namespace tessera
