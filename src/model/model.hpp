#pragma once

#include <map>
#include <string>
#include <string_view>
#include "plan/parameters.hpp"
#include "tokenizer/tokenizer.hpp"
#include <vector>

namespace tessera {

/// Calibration record: largest absolute value seen of each kind of tensor, and the margin used. No maxima if the
/// exponents were given. `channels`: the same of single channels (ChannelMaxima), for equalisation, not kept in files.
struct Calibration {
  std::map<std::string, double> maxima;
  double margin = 2.0;
  std::map<std::string, std::vector<double>> channels;
};

/// Rotary positions: frequencies theta^(-2i/m), scaled. Defaults are those of Llama 3's scaling.
struct Rope {
  double theta = 10000;
  std::string scaling = "none";  // none, linear, llama3
  double factor = 1, low_frequency = 1, high_frequency = 4, original_positions = 8192;
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
  std::uint32_t product_bits = 16;  // Llama family: w_t, rotations and powers as in the key
  std::vector<std::int16_t> rotary_table;
  Equalisation equalisation;
  Calibration calibration;
  Parameters parameters;
  TokenizerData tokenizer;
};

}  // namespace tessera
