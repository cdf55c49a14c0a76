#pragma once

#include <map>
#include <string>
#include <vector>

#include <tessera/model/shape.hpp>

namespace tessera {

/// int16 parameters, all blocks stacked, row-major, unpadded. Weights are (block, out, in); layer-norm gains and biases
/// (block, feature); embedding (vocabulary, feature); position (n_positions, feature).
struct Parameters {
  std::vector<std::int16_t> embedding, position;
  std::vector<std::int16_t> gamma1, beta1, gamma2, beta2, gammaf, betaf;
  std::vector<std::int16_t> wq, wk, wv, wo, w1, w2;
  std::vector<std::int16_t> bq, bk, bv, bo, b1, b2;
};

/// Calibration record: largest absolute value seen of each kind of tensor, and the margin used.
struct Calibration {
  std::map<std::string, double> maxima;
  double margin = 2.0;
};

/// Byte strings of the tokenizer: everything needed to encode and decode text.
struct TokenizerData {
  std::vector<std::string> vocabulary;  // id -> bytes (special tokens: their text)
  std::vector<std::string> merges;      // lines of merges.txt without the version line
  std::uint32_t end_of_text = 0;        // id of <|endoftext|>
};

/// An imported, quantized model: what the model file holds.
struct Model {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
  Exponents exponents;
  Calibration calibration;
  Parameters parameters;
  TokenizerData tokenizer;
};

}  // namespace tessera
