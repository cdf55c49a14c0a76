#include "archive/hdf5.hpp"

namespace tessera {

const DatasetInfo& ReadFile::find_text(const std::string& name, std::uint64_t max_bytes) const {
  const auto found = datasets_.find(name);
  if (found == datasets_.end()) {
    fail(name, "a dataset", "nothing");
  }
  if (found->second.type.name != "string" || found->second.bytes() > max_bytes) {
    fail(name, "text of at most " + std::to_string(max_bytes) + " bytes",
         found->second.type.to_string() + " " + to_string(found->second.extents));
  }
  return found->second;
}

std::string ReadFile::read_text(const std::string& name, std::uint64_t max_bytes) const {
  const DatasetInfo& info = find_text(name, max_bytes);
  check_extents(info, {});
  std::string text(info.bytes(), '\0');
  read_whole(info, std::as_writable_bytes(std::span(text)));
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

std::vector<std::string> ReadFile::read_texts(const std::string& name, std::uint64_t max_count,
                                              std::uint64_t max_bytes) const {
  const DatasetInfo& info = find_text(name, max_bytes);
  check_list(info, max_count);
  std::string padded(info.bytes(), '\0');
  read_whole(info, std::as_writable_bytes(std::span(padded)));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < info.extents.front(); ++i) {
    std::string text = padded.substr(i * info.type.width, info.type.width);
    text.resize(text.find_last_not_of('\0') + 1);
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> ReadFile::read_strings(const std::string& name, std::uint64_t max_count,
                                                std::uint64_t max_bytes) const {
  const std::vector<std::uint32_t> lengths = read_list<std::uint32_t>(name + "/lengths", max_count);
  const std::vector<std::uint8_t> bytes = read_list<std::uint8_t>(name + "/bytes", max_bytes);
  std::vector<std::string> strings;
  strings.reserve(lengths.size());
  std::size_t begin = 0;
  for (const std::uint32_t length : lengths) {
    if (length > bytes.size() - begin) {
      fail(name + "/lengths", "a sum of " + std::to_string(bytes.size()), "more");
    }
    strings.emplace_back(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                         bytes.begin() + static_cast<std::ptrdiff_t>(begin + length));
    begin += length;
  }
  if (begin != bytes.size()) {
    fail(name + "/lengths", "a sum of " + std::to_string(bytes.size()), std::to_string(begin));
  }
  return strings;
}

std::vector<std::string> ReadFile::names_in(const std::string& group) const {
  std::vector<std::string> names;
  const std::string prefix = group + "/";
  for (auto entry = datasets_.lower_bound(prefix); entry != datasets_.end() && entry->first.starts_with(prefix);
       ++entry) {
    names.push_back(entry->first.substr(prefix.size()));
  }
  return names;
}

void ReadFile::check_all() const {
  for (const auto& [name, info] : datasets_) {
    check(name);
  }
}

void ReadFile::fail(const std::string& field, const std::string& expected, const std::string& found) const {
  throw InputError(path_.string() + ": " + field + ": expected " + expected + ", found " + found);
}

}  // namespace tessera
