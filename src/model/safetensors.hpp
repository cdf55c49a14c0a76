#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
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
  [[nodiscard]] std::vector<float> read(const std::string& tensor) const;
  /// The same of values.size() of its values, from number `first` on; takes little memory beside them. Safe to call
  /// from several threads.
  void read(const std::string& tensor, std::size_t first, std::span<float> values) const;

 private:
  /// An open file.
  class Descriptor {
   public:
    explicit Descriptor(const std::filesystem::path& path);
    ~Descriptor();
    Descriptor(Descriptor&& other) noexcept;
    Descriptor& operator=(Descriptor&&) = delete;
    /// Whether all these bytes could be read.
    [[nodiscard]] bool read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;

   private:
    int number_ = -1;
  };

  std::filesystem::path path_;
  Descriptor file_;
  std::map<std::string, TensorEntry> tensors_;
};

}  // namespace tessera
