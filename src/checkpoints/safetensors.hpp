#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "checkpoints/input_file.hpp"
#include "checkpoints/stored_tensors.hpp"

namespace tessera {

/// A safetensors file: 8 bytes of header length (little-endian), a JSON header, then data that the tensors tile without
/// gap or overlap. The constructor checks all of that and throws InputError naming file, tensor, expected and found;
/// it allocates nothing by what the file says beyond the header, which it caps at 100 MB and at the file's own size.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  [[nodiscard]] const std::map<std::string, TensorEntry>& tensors() const { return tensors_; }
  [[nodiscard]] std::string name() const { return file_.name(); }
  /// Values of an F32, F16 or BF16 tensor as float (exact). Throws InputError for another dtype and for NaN and
  /// infinity, naming tensor and index.
  [[nodiscard]] std::vector<float> read(const std::string& tensor) const;
  /// Reads values.size() values of a tensor as float, from number `first` on; takes little memory beside them. Throws
  /// InputError for another dtype and for NaN and infinity. Safe to call from several threads.
  void read(const std::string& tensor, std::size_t first, std::span<float> values) const;

 private:
  InputFile file_;
  std::map<std::string, TensorEntry> tensors_;
};

}  // namespace tessera
