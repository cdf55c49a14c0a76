#pragma once

#include <filesystem>

namespace tessera {

/// Makes the name of a file that is in place last, as fsync of the file does with its bytes: fsync of the folder.
/// Throws InputError for a folder that cannot be opened, else JobError.
void sync_folder_of(const std::filesystem::path& file);

}  // namespace tessera
