#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// Throws InputError if the bytes at the beginning of a file say that it stands for one that git-lfs has not fetched.
void refuse_lfs_pointer(std::string_view bytes, const std::string& file);

/// A file that is read at given places; it may be anybody's, and may shrink meanwhile (no mapping, which would end the
/// process then). Safe to read from several threads.
class InputFile {
 public:
  /// Throws InputError naming the file unless it can be opened and has a size, and if it is a pointer of git-lfs.
  explicit InputFile(const std::filesystem::path& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  [[nodiscard]] std::string name() const { return path_.string(); }
  /// Bytes when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Whether all these bytes could be read.
  [[nodiscard]] bool read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;

 private:
  std::filesystem::path path_;
  int number_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace tessera
