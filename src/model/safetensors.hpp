#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace tessera {

/// Where one tensor lies in a safetensors file. Everything is checked: dtype known, count * width = length, inside the
/// file.
struct TensorEntry {
  std::string dtype;                 // "F32", "F16", ...
  std::vector<std::size_t> extents;  // as the file writes them
  std::size_t count = 0;             // product of the extents
  std::uint64_t offset = 0;          // absolute, in bytes
  std::uint64_t length = 0;          // bytes
};

/// A safetensors file: 8 bytes of header length (little-endian), a JSON header, then data that the tensors tile without
/// gap or overlap. The constructor checks all of that and throws InputError naming file, tensor, expected and found;
/// it allocates nothing by what the file says beyond the header, which it caps at 100 MB and at the file's own size.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  [[nodiscard]] const std::map<std::string, TensorEntry>& tensors() const { return tensors_; }
  [[nodiscard]] std::string name() const { return path_.string(); }
  /// Values of an F32, F16 or BF16 tensor as float (exact). Throws InputError for another dtype and for NaN and
  /// infinity, naming tensor and index.
  [[nodiscard]] std::vector<float> read(const std::string& tensor);

 private:
  std::filesystem::path path_;
  std::ifstream stream_;
  std::map<std::string, TensorEntry> tensors_;
};

}  // namespace tessera
