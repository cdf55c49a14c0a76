#pragma once

#include <map>
#include <string>
#include <vector>

#include "checkpoints/gguf/header.hpp"

namespace tessera {

/// A GGUF file, version 2 or 3, little-endian: metadata, the places of the tensors, then their data, one behind the
/// other up to padding; or the first of a file's parts, whose names say so (parts_of()), with the tensors of all. The
/// constructor checks all of that and throws InputError naming file, field, expected and found: counts and lengths
/// against what is left of the file, keys and names unlike each other, types that find_gguf_type() knows, extents that
/// multiply to what the file has room for, in whole blocks, aligned offsets without overlap or gap; of parts their
/// numbers, that later ones say nothing that the first does not, and the number of all tensors. Nothing is allocated
/// beyond a few times the header of a part, which it caps at 256 MiB.
class GgufFile : public StoredTensors {
 public:
  explicit GgufFile(const std::filesystem::path& path);
  /// The first part's.
  [[nodiscard]] std::string name() const { return files_.front().name(); }
  [[nodiscard]] const GgufMetadata& metadata() const { return metadata_; }

  [[nodiscard]] std::vector<std::string> names() const override;
  [[nodiscard]] bool contains(const std::string& tensor) const override { return tensors_.contains(tensor); }
  [[nodiscard]] const TensorEntry& entry(const std::string& tensor) const override { return tensors_.at(tensor).entry; }
  [[nodiscard]] std::string place_of(const std::string& tensor) const override {
    const auto found = tensors_.find(tensor);
    return found == tensors_.end() ? name() : files_[found->second.file].name();
  }
  /// Dequantized.
  void read_rows(const std::string& tensor, Range rows, std::span<float> values) const override;
  [[nodiscard]] std::vector<std::string> files() const override;

 private:
  struct Place {
    TensorEntry entry;
    std::size_t file = 0;
  };

  /// Adds a part. Keeps the metadata of the first, gives those of others.
  GgufMetadata add(const std::filesystem::path& path);

  std::vector<InputFile> files_;
  GgufMetadata metadata_;
  std::map<std::string, Place> tensors_;
};

}  // namespace tessera
