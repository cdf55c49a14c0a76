#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/input_file.hpp"
#include "model/stored_tensors.hpp"

namespace tessera {

/// What a GGUF file says of itself.
struct GgufMetadata {
  /// Numbers, truth values and texts by key. A float32 is the decimal number of fewest digits that rounds to it, which
  /// is what a configuration says: 1e-05, and not 9.99999974737875e-06. Of a list, a text that says what it is.
  nlohmann::json values = nlohmann::json::object();
  /// The lists that a tokenizer consists of: tokens and merges; scores and token_type.
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, std::vector<double>> numbers;
};

/// A GGUF file, version 2 or 3, little-endian: metadata, the places of the tensors, then their data, one behind the
/// other up to padding. The constructor checks all of that and throws InputError naming file, field, expected and
/// found: counts and lengths against what is left of the file, keys and names unlike each other, types that
/// find_gguf_type() knows, extents that multiply to what the file has room for, in whole blocks, aligned offsets
/// without overlap or gap. Nothing is allocated beyond a few times the header, which it caps at 256 MiB.
class GgufFile : public StoredTensors {
 public:
  explicit GgufFile(const std::filesystem::path& path);
  [[nodiscard]] std::string name() const { return file_.name(); }
  [[nodiscard]] const GgufMetadata& metadata() const { return metadata_; }

  [[nodiscard]] std::vector<std::string> names() const override;
  [[nodiscard]] bool contains(const std::string& tensor) const override { return tensors_.contains(tensor); }
  [[nodiscard]] const TensorEntry& entry(const std::string& tensor) const override { return tensors_.at(tensor); }
  [[nodiscard]] std::string place_of(const std::string& /*tensor*/) const override { return name(); }
  /// Dequantized.
  void read_rows(const std::string& tensor, Range rows, std::span<float> values) const override;
  [[nodiscard]] std::vector<std::string> files() const override { return {name()}; }

 private:
  void check_layout(std::uint64_t data_begin, std::uint64_t alignment);

  InputFile file_;
  GgufMetadata metadata_;
  std::map<std::string, TensorEntry> tensors_;
};

}  // namespace tessera
