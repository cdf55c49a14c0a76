#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace tessera {

/// Size of a regular file; InputError if there is none of this name.
std::uint64_t regular_file_size(const std::filesystem::path& path);

/// Maps a file into memory, where every ReadFile of this path finds it from now on: a process that may open nothing
/// (confine()) still reads it. One file a process, never given back. Throws InputError if it cannot be read or is
/// empty.
void keep_image(const std::filesystem::path& path);
/// The same of a part of the file, as if it were a file called `name`. InputError if the file ends before it.
void keep_image_of_part(const std::filesystem::path& path, std::uint64_t offset, std::uint64_t bytes,
                        const std::filesystem::path& name);
/// The same of a file's bytes, which this process has and keeps: a ReadFile of `name` finds them.
void keep_image(const std::filesystem::path& name, std::span<const std::uint8_t> bytes);

namespace hdf5 {
/// Makes an access list (hid_t) read the image kept of `path` and returns it; nothing if there is none.
std::span<const std::byte> use_image(std::int64_t access, const std::filesystem::path& path);
}  // namespace hdf5

}  // namespace tessera
