#include "archive/library_image.hpp"

#include <hdf5.h>
#include <omp.h>

namespace tessera {
namespace {

/// Where every ReadFile of this path finds it. One file a process, never given back.
struct Image {
  std::filesystem::path path;
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

}  // namespace

std::vector<std::uint8_t> read_isolated_by_library(const std::filesystem::path& path,
                                                   const std::function<std::vector<std::uint8_t>()>& read,
                                                   const IsolationLimits& limits) {
  const auto read_image = [&](std::span<const std::uint8_t> image) {
    kept = {path, std::as_bytes(image)};
    omp_set_num_threads(1);  // a confined process starts none
    return read();
  };
  const auto start = [] { H5open(); };  // reads the environment and more
  return read_isolated(path, read_image, limits, start);
}

std::span<const std::byte> hdf5::use_image(std::int64_t access, const std::filesystem::path& path) {
  H5FD_file_image_callbacks_t callbacks{allocate, copy, reallocate, release, nullptr, nullptr, nullptr};
  if (kept.bytes.empty() || kept.path != path || H5Pset_fapl_core(access, 1, false) < 0 ||
      H5Pset_file_image_callbacks(access, &callbacks) < 0 ||
      H5Pset_file_image(access, const_cast<std::byte*>(kept.bytes.data()), kept.bytes.size()) < 0) {
    return {};
  }
  return kept.bytes;
}

}  // namespace tessera
