#include "base/errors.hpp"
#include "base/text.hpp"
#include <sstream>
#include <unordered_map>
#include "model/tokenizer_files.hpp"

#include "model/byte_symbols.hpp"
#include "model/json_file.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t file_limit = 64U << 20U;
constexpr const char* end_of_text_symbol = "<|endoftext|>";

/// Ranks in the order of the lines, each two tokens in byte symbols; a version comment may stand at the top.
std::vector<Merge> load_merges(const std::filesystem::path& path, const std::vector<std::string>& vocabulary) {
  std::unordered_map<std::string_view, std::uint32_t> ids;
  for (std::uint32_t id = 0; id < vocabulary.size(); ++id) {
    ids.emplace(vocabulary[id], id);
  }
  std::vector<Merge> merges;
  std::istringstream lines(read_file(path, file_limit));
  bool first = true;
  for (std::string line; std::getline(lines, line); first = false) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (first && line.starts_with("#version")) {
      continue;
    }
    const std::string what = path.string() + ": merge " + std::to_string(merges.size()) + " " + quoted_name(line);
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) {
      throw InputError(what + ": expected two tokens separated by one space");
    }
    const auto left = ids.find(bytes_of_symbols(std::string_view(line).substr(0, space)));
    const auto right = ids.find(bytes_of_symbols(std::string_view(line).substr(space + 1)));
    if (left == ids.end() || right == ids.end()) {
      throw InputError(what + ": expected two tokens of the vocabulary");
    }
    merges.push_back({left->second, right->second});
  }
  return merges;
}

}  // namespace

TokenizerData load_tokenizer(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "vocab.json";
  const nlohmann::json root = parse_json_object(read_file(path, file_limit), path.string());
  TokenizerData data;
  data.vocabulary.resize(root.size());
  for (const auto& [symbols, value] : root.items()) {
    const std::string what = path.string() + ": token " + quoted_name(symbols);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= root.size()) {
      throw InputError(what + ": expected an id below " + std::to_string(root.size()) + ", found " +
                       value.dump().substr(0, 40));
    }
    const auto id = value.get<std::size_t>();
    if (!data.vocabulary[id].empty()) {
      throw InputError(what + ": expected distinct ids 0.." + std::to_string(root.size() - 1) + ", found " +
                       std::to_string(id) + " twice");
    }
    data.vocabulary[id] = bytes_of_symbols(symbols);
    if (data.vocabulary[id].empty()) {
      throw InputError(what + ": expected one or more symbols of GPT-2's byte alphabet");
    }
  }
  if (!root.contains(end_of_text_symbol)) {
    throw InputError(path.string() + ": token " + end_of_text_symbol + " is missing");
  }
  data.end_of_text = root[end_of_text_symbol].get<std::uint32_t>();
  data.merges = load_merges(folder / "merges.txt", data.vocabulary);
  require_tokenizer(data, folder.string() + ": ");
  return data;
}

void require_tokenizer(const TokenizerData& data, const std::string& where) {
  try {
    const Tokenizer checked(data);
  } catch (const InputError& error) {
    throw InputError(where + error.what());
  }
}

}  // namespace tessera
