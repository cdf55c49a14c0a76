#pragma once

#include <filesystem>
#include <string_view>

namespace tessera {

/// Makes and registers the directory `temporary`, which is filled beside `target`, and those above it; takes away what
/// dead processes have left for the same target. False if it was there. Throws InputError.
bool make_partial_directory(const std::filesystem::path& temporary, const std::filesystem::path& target);

/// Moves the files of `temporary` into `target`, which is made if there is none, and takes `temporary` away. `last`:
/// file moved after all others; its presence says that the directory is complete. Older files whose names begin with
/// `parts` are removed. Throws JobError.
void move_into_place(const std::filesystem::path& temporary, const std::filesystem::path& target, std::string_view last,
                     std::string_view parts);

}  // namespace tessera
