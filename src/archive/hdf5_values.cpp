#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "archive/hdf5.hpp"
#include "archive/hdf5_handle.hpp"

namespace tessera {

const DatasetInfo& ReadFile::find(const std::string& name) const {
  const auto found = datasets_.find(name);
  if (found == datasets_.end()) {
    fail(name, "a dataset", "nothing");
  }
  return found->second;
}

const DatasetInfo& ReadFile::find(const std::string& name, const ElementType& type) const {
  const DatasetInfo& info = find(name);
  if (info.type != type) {
    fail(name, type.to_string(), info.type.to_string());
  }
  return info;
}

const DatasetInfo& ReadFile::find(const std::string& name, const ElementType& type, const Extents& expected) const {
  const DatasetInfo& info = find(name, type);
  if (info.extents != expected) {
    fail(name, to_string(expected), to_string(info.extents));
  }
  return info;
}

void ReadFile::check_list(const DatasetInfo& info, std::uint64_t max_count) const {
  if (info.extents.size() != 1 || info.extents.front() > max_count) {
    fail(info.name, "a list of at most " + std::to_string(max_count) + " entries", to_string(info.extents));
  }
}

void ReadFile::read_whole(const DatasetInfo& info, std::span<std::byte> bytes) const {
  if (bytes.size() != info.bytes()) {
    throw std::logic_error("ReadFile: memory of another size for " + info.name);
  }
  read_bytes(info, 0, bytes);
  require_digest(info, blake2s({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}));
}

void ReadFile::check(const std::string& name) const {
  constexpr std::uint64_t most = 1 << 22;
  const DatasetInfo& info = find(name);
  Blake2s hash;
  std::vector<std::byte> piece;
  for (std::uint64_t begin = 0; begin < info.bytes(); begin += piece.size()) {
    piece.resize(std::min(most, info.bytes() - begin));
    read_bytes(info, begin, piece);
    hash.update({reinterpret_cast<const std::uint8_t*>(piece.data()), piece.size()});
  }
  require_digest(info, hash.digest());
}

void ReadFile::require_digest(const DatasetInfo& info, const Digest& computed) const {
  if (computed != info.digest) {
    fail(info.name, "digest " + to_hex(info.digest), to_hex(computed) + " (the file is damaged)");
  }
}

void ReadFile::read_bytes(const DatasetInfo& info, std::uint64_t begin, std::span<std::byte> bytes) const {
  static_assert(std::endian::native == std::endian::little, "values are read as they are stored");
  if (begin > info.bytes() || bytes.size() > info.bytes() - begin) {
    throw std::logic_error("ReadFile: a part beyond the end of " + info.name);
  }
  if (bytes.empty()) {
    return;  // nothing has no place
  }
  if (!image_.empty()) {
    std::ranges::copy(image_.subspan(info.offset + begin, bytes.size()), bytes.begin());
    return;
  }
  void* descriptor = nullptr;
  if (H5Fget_vfd_handle(file_, H5P_DEFAULT, &descriptor) < 0) {
    fail(info.name, "readable data", hdf5::last_error());
  }
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t read = pread(*static_cast<const int*>(descriptor), bytes.data() + done, bytes.size() - done,
                               static_cast<off_t>(info.offset + begin + done));
    if (read < 0 && errno == EINTR) {
      continue;
    }
    if (read <= 0) {
      fail(info.name, "readable data", read < 0 ? std::strerror(errno) : "the end of the file");
    }
    done += static_cast<std::size_t>(read);
  }
}

const DatasetInfo& ReadFile::find_text(const std::string& name, std::uint64_t max_bytes) const {
  const DatasetInfo& info = find(name);
  if (info.type.name != "string" || info.bytes() > max_bytes) {
    fail(name, "text of at most " + std::to_string(max_bytes) + " bytes",
         info.type.to_string() + " " + to_string(info.extents));
  }
  return info;
}

std::string ReadFile::read_text(const std::string& name, std::uint64_t max_bytes) const {
  const DatasetInfo& info = find_text(name, max_bytes);
  if (!info.extents.empty()) {
    fail(name, to_string({}), to_string(info.extents));
  }
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
