#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tessera {

inline constexpr std::uint64_t tokenizer_file_limit = 256U << 20U;

/// An object of a file; null if there is no such file. Throws InputError.
nlohmann::json read_optional(const std::filesystem::path& path, std::uint64_t limit = 16U << 20U);
/// A field of what may be no object; null if there is none.
const nlohmann::json& field(const nlohmann::json& object, const char* name);

/// Lines of a merges.txt, each two tokens in byte symbols; a version comment may stand at the top, empty lines at the
/// end. Throws InputError.
std::vector<std::string> read_merge_lines(const std::filesystem::path& path);

/// Adds a line if vocab.json or merges.txt beside a tokenizer.json is another's.
void compare_vocabulary_files(const std::filesystem::path& folder, const nlohmann::json& tokenizer,
                              std::vector<std::string>& notes);

}  // namespace tessera
