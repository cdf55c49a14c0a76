#pragma once

#include "checkpoints/trained_model.hpp"
#include "float_model/calibration.hpp"
#include "tokenizer/tokenizer.hpp"

namespace tessera {

/// An imported, quantized model: what the model file holds.
struct Model {
  ModelShape shape;
  double layer_norm_epsilon = 1e-5;
  Exponents exponents;
  ActivationKind activation = ActivationKind::gelu;
  SoftCaps caps;
  Widths widths;
  std::vector<std::int16_t> rotary_table;
  Equalisation equalisation;
  Calibration calibration;
  Parameters parameters;
  TokenizerData tokenizer;
  Origin origin;
};

}  // namespace tessera
