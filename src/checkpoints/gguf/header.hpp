#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "checkpoints/input_file.hpp"
#include "checkpoints/stored_tensors.hpp"

namespace tessera {

/// What a GGUF file says of itself.
struct GgufMetadata {
  /// Numbers, truth values and texts by key. A float32 is the decimal number of fewest digits that rounds to it, which
  /// is what a configuration says: 1e-05, and not 9.99999974737875e-06. Of a list, a text that says what it is, but for
  /// short lists of truth values, which are kept.
  nlohmann::json values = nlohmann::json::object();
  /// The lists that a tokenizer consists of: tokens and merges; scores and token_type.
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, std::vector<double>> numbers;
};

/// The beginning of one GGUF file: metadata and the places of its tensors.
struct GgufHeader {
  GgufMetadata metadata;
  std::map<std::string, TensorEntry> tensors;
};

/// Reads and checks it as GgufFile says. Throws InputError.
GgufHeader read_gguf_header(const InputFile& file);

}  // namespace tessera
