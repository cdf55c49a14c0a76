#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace tessera {

/// Bytes of a whole file of at most `limit` bytes. Throws InputError naming the file.
std::string read_file(const std::filesystem::path& path, std::uint64_t limit);

/// A JSON object from text: valid UTF-8, no duplicate keys, at most 8 levels deep. Throws InputError beginning with
/// `what`.
nlohmann::json parse_json_object(const std::string& text, const std::string& what);

}  // namespace tessera
