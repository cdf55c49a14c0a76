#include "base/errors.hpp"
#include "base/text.hpp"
#include <unordered_map>
#include "model/tokenizer_files.hpp"

#include "model/byte_symbols.hpp"
#include "model/json_file.hpp"

namespace tessera {
namespace {

constexpr std::uint64_t file_limit = 64U << 20U;
constexpr const char* end_of_text_symbol = "<|endoftext|>";

/// Lines without the version comment at the top and without a final empty line.
std::vector<std::string> merge_lines(const std::filesystem::path& path) {
  const std::string text = read_file(path, file_limit);
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (!line.empty() && line.back() == '\r') {
      line.pop_back();
    }
    if (!(begin == 0 && line.starts_with("#version"))) {
      lines.push_back(std::move(line));
    }
    begin = end + 1;
  }
  return lines;
}

/// Ranks in the order of the lines, each two tokens in byte symbols.
std::vector<Merge> load_merges(const std::filesystem::path& path, const std::vector<std::string>& vocabulary) {
  std::unordered_map<std::string_view, std::uint32_t> ids;
  for (std::uint32_t id = 0; id < vocabulary.size(); ++id) {
    ids.emplace(vocabulary[id], id);
  }
  std::vector<Merge> merges;
  for (const std::string& line : merge_lines(path)) {
    const std::string what = path.string() + ": merge " + std::to_string(merges.size()) + " " + quoted_name(line);
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) {
      throw InputError(what + ": expected two tokens separated by one space");
    }
    const auto left = bytes_of_symbols(std::string_view(line).substr(0, space));
    const auto right = bytes_of_symbols(std::string_view(line).substr(space + 1));
    if (!left || !right || !ids.contains(*left) || !ids.contains(*right)) {
      throw InputError(what + ": expected two tokens of the vocabulary");
    }
    merges.push_back({ids[*left], ids[*right]});
  }
  return merges;
}

}  // namespace

TokenizerData load_tokenizer(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "vocab.json";
  const nlohmann::json root = parse_json_object(read_file(path, file_limit), path.string());
  TokenizerData data;
  data.vocabulary.resize(root.size());
  std::vector<bool> seen(root.size(), false);
  for (const auto& [symbols, value] : root.items()) {
    const std::string what = path.string() + ": token " + quoted_name(symbols);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= root.size()) {
      throw InputError(what + ": expected an id below " + std::to_string(root.size()) + ", found " +
                       value.dump().substr(0, 40));
    }
    const auto id = value.get<std::size_t>();
    if (seen[id]) {
      throw InputError(what + ": expected distinct ids 0.." + std::to_string(root.size() - 1) + ", found " +
                       std::to_string(id) + " twice");
    }
    const std::optional<std::string> bytes = bytes_of_symbols(symbols);
    if (!bytes || bytes->empty()) {
      throw InputError(what + ": expected one or more symbols of GPT-2's byte alphabet");
    }
    seen[id] = true;
    data.vocabulary[id] = *bytes;
  }
  if (!root.contains(end_of_text_symbol)) {
    throw InputError(path.string() + ": token " + end_of_text_symbol + " is missing");
  }
  data.end_of_text = root[end_of_text_symbol].get<std::uint32_t>();
  data.merges = load_merges(folder / "merges.txt", data.vocabulary);
  try {
    const Tokenizer checked(data);
  } catch (const InputError& error) {
    throw InputError(folder.string() + ": " + error.what());
  }
  return data;
}

}  // namespace tessera
