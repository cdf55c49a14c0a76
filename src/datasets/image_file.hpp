#pragma once

#include "datasets/dataset_file.hpp"
#include "datasets/hdf5_object.hpp"

namespace tessera {

/// A file of ours whose structure is read without the HDF5 library. Files that tessera has written are the same to it
/// and to ReadFile, damaged ones too; of others that ReadFile would take, it refuses those that use another version of
/// some structure.
class DirectFile : public DatasetFile {
 protected:
  /// Checks structure and root digest. `name` stands in messages; `image` is all of the file and needed no longer than
  /// this takes, which looks at no values.
  DirectFile(const std::string& name, std::span<const std::uint8_t> image, std::string_view format,
             std::uint64_t max_bytes);

 private:
  void walk(const hdf5::Image& image, const hdf5::ObjectHeader& group, const std::string& prefix, unsigned depth);
  void add(const std::string& path, const hdf5::ObjectHeader& dataset);
};

/// One in memory: what verifiers read by.
class ImageFile : public DirectFile {
 public:
  /// `image` must outlive this.
  ImageFile(const std::string& name, std::span<const std::uint8_t> image, std::string_view format,
            std::uint64_t max_bytes = any_size);
  /// read_list() of bytes, which are not copied: where they lie in the image.
  [[nodiscard]] std::span<const std::uint8_t> list_in_place(const std::string& name, std::uint64_t max_count) const;

 private:
  void read_at(const DatasetInfo& info, std::uint64_t offset, std::span<std::byte> bytes) const override;

  std::span<const std::uint8_t> image_;
};

}  // namespace tessera
