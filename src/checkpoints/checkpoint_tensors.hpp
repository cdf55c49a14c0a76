#pragma once

#include "base/range.hpp"
#include "checkpoints/safetensors.hpp"

namespace tessera {

/// The tensors of one *.safetensors file, or of the shards that an index (*.json) names. Nothing but headers is kept;
/// values are read when they are asked for.
class CheckpointTensors : public StoredTensors {
 public:
  /// Throws InputError, naming file and tensor, for a file that is absent or not well-formed, and unless the index
  /// names for each tensor the one file that has it, each tensor of the files, and nothing else.
  explicit CheckpointTensors(const std::filesystem::path& weights);

  [[nodiscard]] std::vector<std::string> names() const override;
  [[nodiscard]] bool contains(const std::string& tensor) const override { return file_of_.contains(tensor); }
  [[nodiscard]] const TensorEntry& entry(const std::string& tensor) const override;
  [[nodiscard]] std::string place_of(const std::string& tensor) const override;
  /// F32, F16 and BF16 are exact.
  void read_rows(const std::string& tensor, Range rows, std::span<float> values) const override;
  [[nodiscard]] std::vector<std::string> files() const override;

 private:
  void read_index(const std::filesystem::path& index);

  std::string source_;  // the file or the index
  std::vector<SafetensorsFile> files_;
  std::map<std::string, std::size_t> file_of_;  // tensor -> file
};

/// The first file that an index names. Throws InputError.
std::filesystem::path first_shard(const std::filesystem::path& index);

}  // namespace tessera
