#pragma once

#include "base/range.hpp"
#include "model/safetensors.hpp"

namespace tessera {

/// The tensors of a checkpoint folder, whichever files they lie in: model.safetensors, else the shards that
/// model.safetensors.index.json names, else model_f16.safetensors, else the only *.safetensors. Nothing but headers is
/// kept; values are read when they are asked for. Safe to read from several threads.
class CheckpointTensors {
 public:
  /// Throws InputError, naming file and tensor, for a file that is absent or not well-formed, and unless the index
  /// names for each tensor the one file that has it, each tensor of the files, and nothing else.
  explicit CheckpointTensors(const std::filesystem::path& folder);

  /// Names as stored, in alphabetical order.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool contains(const std::string& tensor) const { return file_of_.contains(tensor); }
  [[nodiscard]] const TensorEntry& entry(const std::string& tensor) const;
  /// The file that holds a tensor, for messages; of a tensor that there is not, the file that says which there are.
  [[nodiscard]] std::string place_of(const std::string& tensor) const;
  /// Rows (entries of the first extent) of an F32, F16 or BF16 tensor as float (exact), row-major. Throws InputError
  /// for another dtype, NaN and infinity, naming file, tensor and index.
  void read_rows(const std::string& tensor, Range rows, std::span<float> values) const;
  /// All of it.
  [[nodiscard]] std::vector<float> read(const std::string& tensor) const;

 private:
  void read_index(const std::filesystem::path& index);

  std::string source_;  // the file or the index
  std::vector<SafetensorsFile> files_;
  std::map<std::string, std::size_t> file_of_;  // tensor -> file
};

}  // namespace tessera
