#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

namespace tessera {

/// Size of a regular file; InputError if there is none of this name.
std::uint64_t regular_file_size(const std::filesystem::path& path);

/// A part of a file that is a file itself.
struct FilePart {
  std::filesystem::path file;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A file in memory. What is read of it comes from the disk then: if the file is cut off meanwhile, or a disk fails,
/// the process dies.
class MappedFile {
 public:
  /// Throws InputError if it cannot be read or is empty.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }
  /// The file's bytes, which stay in memory until the process ends.
  std::span<const std::uint8_t> keep() { return std::exchange(bytes_, {}); }

 private:
  std::span<const std::uint8_t> bytes_;
};

/// A file in memory, where it stays until the process ends: one that may open nothing (confine()) still reads it.
/// Throws InputError if it cannot be read or is empty.
std::span<const std::uint8_t> map_file(const std::filesystem::path& path);
/// A part of a file in memory, where it stays until the process ends; errors call it `name`. Throws InputError if the
/// part cannot be read, is empty or reaches beyond the end of its file.
std::span<const std::uint8_t> map_part(const FilePart& part, const std::filesystem::path& name);

}  // namespace tessera
