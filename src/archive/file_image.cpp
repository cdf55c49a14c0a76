#include "archive/file_image.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/errors.hpp"
#include "files/descriptor.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

void refuse_empty(const fs::path& path, std::uint64_t size) {
  if (size == 0) {
    throw InputError(path.string() + ": expected an HDF5 file of ours, found an empty file");
  }
}

/// Says what is at a path that is no regular file; at a directory also which file of it was meant, perhaps.
std::string what_is_at(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return fs::exists(path, error) ? "something else" : "nothing";
  }
  for (const char* const name : {"verifying.key", "state.h5"}) {
    if (fs::exists(path / name, error)) {
      return "a directory: in it is " + (path / name).string();
    }
  }
  return "a directory";
}

}  // namespace

std::uint64_t regular_file_size(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    throw InputError(path.string() + ": expected a file, found " + (error ? error.message() : what_is_at(path)));
  }
  return fs::file_size(path);
}

MappedFile::MappedFile(const fs::path& path) {
  const std::uint64_t size = regular_file_size(path);
  refuse_empty(path, size);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  void* const bytes = file.is_open() ? ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0) : MAP_FAILED;
  if (bytes == MAP_FAILED) {
    throw InputError(path.string() + ": cannot be read: " + std::strerror(errno));
  }
  bytes_ = {static_cast<const std::uint8_t*>(bytes), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) {
    ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size());
  }
}

std::span<const std::uint8_t> map_file(const fs::path& path) { return MappedFile(path).keep(); }

std::span<const std::uint8_t> map_part(const FilePart& part, const fs::path& name) {
  refuse_empty(name, part.bytes);
  const std::span<const std::uint8_t> whole = map_file(part.file);
  if (part.offset > whole.size() || part.bytes > whole.size() - part.offset) {
    throw InputError(name.string() + ": expected " + std::to_string(part.bytes) + " bytes at " +
                     std::to_string(part.offset) + ", found a file of " + std::to_string(whole.size()));
  }
  return whole.subspan(part.offset, part.bytes);
}

}  // namespace tessera
