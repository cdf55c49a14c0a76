#include "datasets/dataset_file.hpp"

#include <algorithm>

#include "base/little_endian.hpp"
#include "plan/key.hpp"

namespace tessera {
namespace {

constexpr std::size_t max_name = 200;

void append_text(std::vector<std::uint8_t>& message, const std::string& text) {
  append_little_endian<std::uint64_t>(message, text.size());
  message.insert(message.end(), text.begin(), text.end());
}

}  // namespace

std::uint64_t DatasetInfo::count() const {
  std::uint64_t product = 1;
  for (const std::uint64_t extent : extents) {
    product *= extent;
  }
  return product;
}

void DatasetFile::set_file_bytes(std::uint64_t bytes, std::uint64_t max_bytes) {
  file_bytes_ = bytes;
  if (bytes > max_bytes) {
    fail("size", "at most " + std::to_string(max_bytes) + " bytes", std::to_string(bytes));
  }
}

void DatasetFile::set_head(const FileHead& head, std::string_view wanted_format) {
  format_ = head.format;
  const std::string found_format = format_.empty() ? "none" : format_;
  if (!wanted_format.empty() && format_ != wanted_format) {
    fail("format", std::string(wanted_format), found_format);
  }
  if (!format_.starts_with("tessera ")) {
    fail("format", "a file written by tessera", found_format);
  }
  if (!head.version) {
    fail("format_version", std::to_string(format_version), "none");
  }
  version_ = *head.version;
  if (version_ != format_version) {
    fail("format_version", std::to_string(format_version), std::to_string(version_));
  }
  if (!head.digest) {
    fail("digest", "32 bytes", "none");
  }
  digest_ = *head.digest;
}

void DatasetFile::see_object(const std::string& path, std::uint64_t address) {
  if (path.size() > max_name || addresses_.size() >= max_objects) {
    fail(path.substr(0, max_name), "names and objects within bounds", "more");
  }
  if (!addresses_.insert(address).second) {
    fail(path, "an object linked once", "another link to it");
  }
}

void DatasetFile::add_dataset(DatasetInfo info, const StoredDataset& stored) {
  if (info.type.name.empty()) {
    fail(info.name, "little-endian numbers or fixed-length strings", "another element type");
  }
  std::uint64_t bytes = info.type.width;
  bool inside = info.extents.size() <= max_rank;
  for (const std::uint64_t extent : info.extents) {
    inside = inside && !__builtin_mul_overflow(bytes, extent, &bytes);
  }
  inside = inside && (bytes == 0 || (stored.offset && *stored.offset <= file_bytes_ &&
                                     bytes <= file_bytes_ - *stored.offset && stored.bytes == bytes));
  if (!inside) {
    fail(info.name, "data inside the file's " + std::to_string(file_bytes_) + " bytes",
         info.type.to_string() + " " + to_string(info.extents));
  }
  if (!stored.digest) {
    fail(info.name, "an attribute digest", "none");
  }
  info.digest = *stored.digest;
  info.offset = stored.offset.value_or(0);
  const std::string name = info.name;
  datasets_.emplace(name, std::move(info));
}

void DatasetFile::check_digest() const {
  const Digest computed = file_digest(format_, version_, datasets_);
  if (computed != digest_) {
    fail("digest", to_hex(digest_), to_hex(computed) + " (the file is damaged)");
  }
}

const DatasetInfo& DatasetFile::find(const std::string& name) const {
  const auto found = datasets_.find(name);
  if (found == datasets_.end()) {
    fail(name, "a dataset", "nothing");
  }
  return found->second;
}

const DatasetInfo& DatasetFile::find(const std::string& name, const ElementType& type) const {
  const DatasetInfo& info = find(name);
  if (info.type != type) {
    fail(name, type.to_string(), info.type.to_string());
  }
  return info;
}

const DatasetInfo& DatasetFile::find(const std::string& name, const ElementType& type, const Extents& expected) const {
  const DatasetInfo& info = find(name, type);
  if (info.extents != expected) {
    fail(name, to_string(expected), to_string(info.extents));
  }
  return info;
}

void DatasetFile::check_list(const DatasetInfo& info, std::uint64_t max_count) const {
  if (info.extents.size() != 1 || info.extents.front() > max_count) {
    fail(info.name, "a list of at most " + std::to_string(max_count) + " entries", to_string(info.extents));
  }
}

void DatasetFile::read_whole(const DatasetInfo& info, std::span<std::byte> bytes) const {
  if (bytes.size() != info.bytes()) {
    throw std::logic_error("DatasetFile: memory of another size for " + info.name);
  }
  read_bytes(info, 0, bytes);
  require_digest(info, dataset_digest(bytes, hash_many_));
}

void DatasetFile::check(const std::string& name) const {
  constexpr std::uint64_t most = 1 << 22;
  const DatasetInfo& info = find(name);
  DatasetHash hash(info.bytes(), hash_many_);
  std::vector<std::byte> piece;
  for (std::uint64_t begin = 0; begin < info.bytes(); begin += piece.size()) {
    piece.resize(static_cast<std::size_t>(std::min(most, info.bytes() - begin)));
    read_bytes(info, begin, piece);
    hash.update(piece);
  }
  require_digest(info, hash.digest());
}

void DatasetFile::require_digest(const DatasetInfo& info, const Digest& computed) const {
  if (computed != info.digest) {
    fail(info.name, "digest " + to_hex(info.digest), to_hex(computed) + " (the file is damaged)");
  }
}

void DatasetFile::read_bytes(const DatasetInfo& info, std::uint64_t begin, std::span<std::byte> bytes) const {
  if (begin > info.bytes() || bytes.size() > info.bytes() - begin) {
    throw std::logic_error("DatasetFile: a part beyond the end of " + info.name);
  }
  if (!bytes.empty()) {  // nothing has no place
    read_at(info, info.offset + begin, bytes);
  }
}

const DatasetInfo& DatasetFile::find_text(const std::string& name, std::uint64_t max_bytes) const {
  const DatasetInfo& info = find(name);
  if (info.type.name != "string" || info.bytes() > max_bytes) {
    fail(name, "text of at most " + std::to_string(max_bytes) + " bytes",
         info.type.to_string() + " " + to_string(info.extents));
  }
  return info;
}

std::string DatasetFile::read_text(const std::string& name, std::uint64_t max_bytes) const {
  const DatasetInfo& info = find_text(name, max_bytes);
  if (!info.extents.empty()) {
    fail(name, to_string({}), to_string(info.extents));
  }
  std::string text(static_cast<std::size_t>(info.bytes()), '\0');
  read_whole(info, std::as_writable_bytes(std::span(text)));
  text.resize(text.find_last_not_of('\0') + 1);
  return text;
}

std::vector<std::string> DatasetFile::read_texts(const std::string& name, std::uint64_t max_count,
                                                 std::uint64_t max_bytes) const {
  const DatasetInfo& info = find_text(name, max_bytes);
  check_list(info, max_count);
  std::string padded(static_cast<std::size_t>(info.bytes()), '\0');
  const auto width = static_cast<std::size_t>(info.type.width);
  read_whole(info, std::as_writable_bytes(std::span(padded)));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < info.extents.front(); ++i) {
    std::string text = padded.substr(i * width, width);
    text.resize(text.find_last_not_of('\0') + 1);
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> DatasetFile::read_strings(const std::string& name, std::uint64_t max_count,
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

std::vector<std::string> DatasetFile::names_in(const std::string& group) const {
  std::vector<std::string> names;
  const std::string prefix = group + "/";
  for (auto entry = datasets_.lower_bound(prefix); entry != datasets_.end() && entry->first.starts_with(prefix);
       ++entry) {
    names.push_back(entry->first.substr(prefix.size()));
  }
  return names;
}

void DatasetFile::check_all() const {
  for (const auto& [name, info] : datasets_) {
    check(name);
  }
}

void DatasetFile::fail(const std::string& field, const std::string& expected, const std::string& found) const {
  throw InputError(name_ + ": " + field + ": expected " + expected + ", found " + found);
}

std::string to_string(const Extents& extents) {
  std::string text = "(";
  for (const std::uint64_t extent : extents) {
    text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  }
  return text + ")";
}

Digest file_digest(const std::string& format, std::uint32_t version,
                   const std::map<std::string, DatasetInfo>& datasets) {
  static constexpr std::string_view domain = "tessera file\n";
  std::vector<std::uint8_t> message(domain.begin(), domain.end());
  append_text(message, format);
  append_little_endian<std::uint64_t>(message, version);
  append_little_endian<std::uint64_t>(message, datasets.size());
  for (const auto& [name, info] : datasets) {
    append_text(message, name);
    append_text(message, info.type.to_string());
    append_little_endian<std::uint64_t>(message, info.extents.size());
    for (const std::uint64_t extent : info.extents) {
      append_little_endian<std::uint64_t>(message, extent);
    }
    message.insert(message.end(), info.digest.begin(), info.digest.end());
  }
  return blake2s(message);
}

}  // namespace tessera
