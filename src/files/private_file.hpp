#pragma once

#include <filesystem>
#include <string_view>

namespace tessera {

/// Writes a small file of its owner's: synced, then put in place, with the directory synced. Throws JobError.
void write_private(const std::filesystem::path& file, std::string_view content);

/// Overwrites and removes a file of secrets, such as a trace; nothing if there is none. Throws JobError if it stays.
void wipe_file(const std::filesystem::path& file);

}  // namespace tessera
