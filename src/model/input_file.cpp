#include "model/input_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errors.hpp"

namespace tessera {

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
