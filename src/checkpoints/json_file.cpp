#include "checkpoints/json_file.hpp"

#include <fstream>
#include <set>
#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/input_file.hpp"
#include <vector>

namespace tessera {

std::string read_file(const std::filesystem::path& path, std::uint64_t limit) {
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  if (error) {
    throw InputError(path.string() + ": cannot be read: " + error.message());
  }
  if (size > limit) {
    throw InputError(path.string() + ": expected at most " + std::to_string(limit) + " bytes, found " +
                     std::to_string(size));
  }
  std::string bytes(size, '\0');
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(size))) {
    throw InputError(path.string() + ": cannot be read");
  }
  refuse_lfs_pointer(bytes, path.string());
  return bytes;
}

nlohmann::json parse_json_object(const std::string& text, const std::string& what) {
  using Event = nlohmann::json::parse_event_t;
  constexpr int depth_limit = 8;
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, Event event, nlohmann::json& parsed) {
    if (depth > depth_limit) {
      throw InputError(what + ": expected at most " + std::to_string(depth_limit) + " levels of JSON");
    }
    if (event == Event::object_start) {
      keys.emplace_back();
    } else if (event == Event::object_end) {
      keys.pop_back();
    } else if (event == Event::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw InputError(what + ": duplicate key " + quoted_name(parsed.get<std::string>()));
    }
    return true;
  };
  nlohmann::json root;
  try {
    root = nlohmann::json::parse(text, check);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(what + ": not valid JSON: " + error.what());
  }
  if (!root.is_object()) {
    throw InputError(what + ": expected a JSON object, found " + root.type_name());
  }
  return root;
}

}  // namespace tessera
