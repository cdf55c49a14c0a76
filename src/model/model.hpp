#pragma once

#include <map>
#include <string>
#include <string_view>
#include "plan/parameters.hpp"
#include "tokenizer/tokenizer.hpp"
#include <vector>

namespace tessera {

/// Calibration record: largest absolute value seen of each kind of tensor, and the margin used. No maxima if the
/// exponents were given.
struct Calibration {
  std::map<std::string, double> maxima;
  double margin = 2.0;
};

/// A checkpoint as it was trained.
struct FloatModel {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
  FloatParameters parameters;
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
