#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include "arithmetic/rotary_table.hpp"
#include "plan/parameters.hpp"
#include "tokenizer/tokenizer.hpp"
#include <vector>

namespace tessera {

/// Calibration record: largest absolute value seen of each kind of tensor, and the margin used. No maxima if the
/// exponents were given. `channels`: the same of single channels (ChannelMaxima), for equalisation, not kept in files.
struct Calibration {
  std::map<std::string, double> maxima;
  double margin = 1.25;
  std::map<std::string, std::vector<double>> channels;
};

/// What a model's parameters were read from. For people: nothing depends on it.
struct Origin {
  struct File {
    std::string name;  // without folder
    std::uint64_t bytes = 0;
    std::array<std::uint8_t, 32> sha256{};
    friend bool operator==(const File&, const File&) = default;
  };
  std::string format;  // "safetensors", "GGUF"; empty: no checkpoint
  std::vector<File> files;
  std::map<std::string, std::uint64_t> tensor_types;  // as the format calls them -> number of tensors
  friend bool operator==(const Origin&, const Origin&) = default;
};

/// A checkpoint as it was trained.
struct FloatModel {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
  FloatParameters parameters;
  Rope rope = {};                   // Llama family
  std::string activation = "gelu";  // of the MLP: gelu (tanh form), silu
};

/// An imported, quantized model: what the model file holds.
struct Model {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
  Exponents exponents;
  std::string activation = "gelu";  // of the MLP: gelu (tanh form), silu
  Widths widths;                    // Llama family, as are rotations and powers of the key
  std::vector<std::int16_t> rotary_table;
  Equalisation equalisation;
  Calibration calibration;
  Parameters parameters;
  TokenizerData tokenizer;
  Origin origin;
};

}  // namespace tessera
