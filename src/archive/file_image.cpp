#include "archive/file_image.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "base/errors.hpp"

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// What keep_image() has mapped.
struct Image {
  fs::path path;
  std::span<const std::byte> bytes;
};
Image kept;

// The library wants copies of the image; it reads only, so every copy is the image itself.
void* allocate(std::size_t /*size*/, H5FD_file_image_op_t /*operation*/, void* /*data*/) {
  return const_cast<std::byte*>(kept.bytes.data());
}
void* copy(void* to, const void* /*from*/, std::size_t /*size*/, H5FD_file_image_op_t /*operation*/, void* /*data*/) {
  return to;
}
void* reallocate(void* /*bytes*/, std::size_t /*size*/, H5FD_file_image_op_t /*operation*/, void* /*data*/) {
  return nullptr;
}
herr_t release(void* /*bytes*/, H5FD_file_image_op_t /*operation*/, void* /*data*/) { return 0; }

void refuse_empty(const fs::path& path, std::uint64_t size) {
  if (size == 0) {
    throw InputError(path.string() + ": expected an HDF5 file of ours, found an empty file");
  }
}

std::span<const std::byte> map(const fs::path& path) {
  const std::uint64_t size = regular_file_size(path);
  refuse_empty(path, size);
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  void* const bytes = file < 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (bytes == MAP_FAILED) {
    throw InputError(path.string() + ": cannot be read: " + std::strerror(errno));
  }
  ::close(file);
  return {static_cast<const std::byte*>(bytes), size};
}

}  // namespace

std::uint64_t regular_file_size(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    throw InputError(path.string() + ": expected a file, found " +
                     (error              ? error.message()
                      : fs::exists(path) ? "something else"
                                         : "nothing"));
  }
  return fs::file_size(path);
}

void keep_image(const fs::path& path) { kept = {path, map(path)}; }

void keep_image_of_part(const fs::path& path, std::uint64_t offset, std::uint64_t bytes, const fs::path& name) {
  refuse_empty(name, bytes);
  const std::span<const std::byte> whole = map(path);
  if (offset > whole.size() || bytes > whole.size() - offset) {
    throw InputError(name.string() + ": expected " + std::to_string(bytes) + " bytes at " + std::to_string(offset) +
                     ", found a file of " + std::to_string(whole.size()));
  }
  kept = {name, whole.subspan(offset, bytes)};
}

void keep_image(const fs::path& name, std::span<const std::uint8_t> bytes) {
  refuse_empty(name, bytes.size());
  kept = {name, std::as_bytes(bytes)};
}

std::span<const std::byte> hdf5::use_image(std::int64_t access, const fs::path& path) {
  H5FD_file_image_callbacks_t callbacks{allocate, copy, reallocate, release, nullptr, nullptr, nullptr};
  if (kept.bytes.empty() || kept.path != path || H5Pset_fapl_core(access, 1, false) < 0 ||
      H5Pset_file_image_callbacks(access, &callbacks) < 0 ||
      H5Pset_file_image(access, const_cast<std::byte*>(kept.bytes.data()), kept.bytes.size()) < 0) {
    return {};
  }
  return kept.bytes;
}

}  // namespace tessera
