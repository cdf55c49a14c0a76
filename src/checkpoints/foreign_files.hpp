#pragma once

#include <filesystem>
#include <string>

namespace tessera {

/// Throws InputError where the folder has changes to another model's weights (PEFT's adapters), or Meta's own layout in
/// place of a configuration: its weights are not, or not under these names, what a folder of transformers has.
void refuse_other_layouts(const std::filesystem::path& folder);

/// What weights of other formats a file or a folder has and what to do about it, for the end of a message; empty if
/// nothing is known of it.
std::string foreign_weights(const std::filesystem::path& path);

}  // namespace tessera
