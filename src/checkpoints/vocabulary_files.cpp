#include "checkpoints/vocabulary_files.hpp"

#include <map>
#include <sstream>
#include <string_view>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/json_file.hpp"
#include "tokenizer/normalize.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// Whether two vocabularies are equal but for added tokens, which either may have.
bool same_vocabulary(const json& left, const json& right, const json& added_tokens) {
  std::map<std::string_view, const json*> added;
  for (const json& token : added_tokens) {
    if (const json& content = field(token, "content"); content.is_string()) {
      added[content.get_ref<const std::string&>()] = &field(token, "id");
    }
  }
  const auto within = [&](const json& one, const json& other) {
    for (const auto& [token, id] : one.items()) {
      const auto known = other.find(token);
      const auto extra = added.find(token);
      if (known != other.end() ? *known != id : extra == added.end() || *extra->second != id) {
        return false;
      }
    }
    return true;
  };
  return right.is_object() && within(left, right) && within(right, left);
}

}  // namespace

json read_optional(const fs::path& path, std::uint64_t limit) {
  return fs::exists(path) ? parse_json_object(read_file(path, limit), path.string()) : json();
}

const json& field(const json& object, const char* name) {
  static const json none;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : none;
}

std::vector<std::string> read_merge_lines(const fs::path& path) {
  std::vector<std::string> lines;
  std::istringstream stream(read_file(path, tokenizer_file_limit));
  bool first = true;
  for (std::string line; std::getline(stream, line); first = false) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (!first || !line.starts_with("#version")) {
      lines.push_back(line);
    }
  }
  while (!lines.empty() && lines.back().empty()) {
    lines.pop_back();
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t space = lines[i].find(' ');
    if (space == std::string::npos || lines[i].find(' ', space + 1) != std::string::npos ||
        well_formed_length(lines[i]) != lines[i].size()) {
      throw InputError(path.string() + ": merge " + std::to_string(i) + " " + quoted_name(lines[i]) +
                       ": expected two tokens separated by one space");
    }
  }
  return lines;
}

void compare_vocabulary_files(const fs::path& folder, const json& tokenizer, std::vector<std::string>& notes) {
  const json& model = field(tokenizer, "model");
  const auto note = [&](const char* file, const std::string& what) {
    notes.push_back(std::string("tokenizer.json is taken, ") + file + " is not: it " + what);
  };
  try {
    const json vocabulary = read_optional(folder / "vocab.json", tokenizer_file_limit);
    if (!vocabulary.is_null() &&
        !same_vocabulary(vocabulary, field(model, "vocab"), field(tokenizer, "added_tokens"))) {
      note("vocab.json", "has other tokens");
    }
  } catch (const InputError&) {
    note("vocab.json", "cannot be read");
  }
  if (!fs::exists(folder / "merges.txt")) {
    return;
  }
  try {
    std::vector<std::string> merges;
    for (const json& merge : field(model, "merges")) {
      const bool pair = merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string();
      merges.push_back(pair                ? merge[0].get<std::string>() + " " + merge[1].get<std::string>()
                       : merge.is_string() ? merge.get<std::string>()
                                           : std::string());
    }
    if (read_merge_lines(folder / "merges.txt") != merges) {
      note("merges.txt", "has other merges");
    }
  } catch (const InputError&) {
    note("merges.txt", "cannot be read");
  }
}

}  // namespace tessera
