#pragma once

#include <filesystem>

#include "archive/file_image.hpp"
#include "datasets/image_file.hpp"
#include "files/descriptor.hpp"

namespace tessera {

/// A file of ours on the disk of which parts are read, without the HDF5 library, which takes milliseconds to open one.
/// Threads may use it side by side.
class PartsFile : public DirectFile {
 public:
  /// Opens and checks structure and root digest. Throws InputError.
  PartsFile(const std::filesystem::path& path, std::string_view format);

 private:
  PartsFile(const std::filesystem::path& path, std::string_view format, const MappedFile& mapped);
  void read_at(const DatasetInfo& info, std::uint64_t offset, std::span<std::byte> bytes) const override;
  void expect_at(std::uint64_t offset, std::uint64_t bytes) const override;

  Descriptor file_;
};

}  // namespace tessera
