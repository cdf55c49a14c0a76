#include "checkpoints/input_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.hpp"

namespace tessera {

void refuse_lfs_pointer(std::string_view bytes, const std::string& file) {
  if (bytes.starts_with("version https://git-lfs.github.com/spec/")) {
    throw InputError(file + ": expected the file itself, found a pointer of git-lfs to it: fetch it (git lfs pull)");
  }
}

InputFile::InputFile(const std::filesystem::path& path) : path_(path) {
  std::error_code error;
  size_ = std::filesystem::file_size(path, error);
  if (error) {
    throw InputError(name() + ": cannot be read: " + error.message());
  }
  number_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number_ < 0) {
    throw InputError(name() + ": cannot be read: " + std::strerror(errno));
  }
  std::string first(std::min<std::uint64_t>(size_, 64), '\0');
  try {
    if (read(0, {reinterpret_cast<std::uint8_t*>(first.data()), first.size()})) {
      refuse_lfs_pointer(first, name());
    }
  } catch (const InputError&) {
    ::close(number_);
    throw;
  }
}

InputFile::~InputFile() {
  if (number_ >= 0) {
    ::close(number_);
  }
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), number_(std::exchange(other.number_, -1)), size_(other.size_) {}

bool InputFile::read(std::uint64_t offset, std::span<std::uint8_t> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pread(number_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return false;
    }
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace tessera
