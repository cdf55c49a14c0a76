#include "checkpoints/end_tokens.hpp"

#include <algorithm>

#include "checkpoints/json_sections.hpp"
#include "checkpoints/vocabulary_files.hpp"
#include "plan/ends.hpp"

namespace tessera {

std::vector<std::uint32_t> folder_ends(const std::filesystem::path& folder, std::size_t vocabulary) {
  for (const char* const name : {"generation_config.json", "config.json"}) {
    const std::filesystem::path path = folder / name;
    const nlohmann::json said = field(read_optional(path), "eos_token_id");
    const std::string where = path.string() + ": eos_token_id";
    std::vector<std::uint32_t> ends;
    if (said.is_array()) {
      for (const nlohmann::json& id : said) {
        ends.push_back(id_of(id, vocabulary, where));
      }
    } else if (!said.is_null()) {
      ends.push_back(id_of(said, vocabulary, where));
    }
    if (!ends.empty()) {
      return ends;
    }
  }
  return {};
}

void take_ends(TokenizerData& data, std::vector<std::uint32_t> ids, const std::string& where) {
  ids.push_back(data.end_of_text);
  std::ranges::sort(ids);
  ids.erase(std::ranges::unique(ids).begin(), ids.end());
  data.ends = ids.size() > 1 ? std::move(ids) : std::vector<std::uint32_t>();
  check_ends(data, data.vocabulary.size(), where);
}

}  // namespace tessera
