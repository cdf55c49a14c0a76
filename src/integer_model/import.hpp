#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include "float_model/float_model.hpp"
#include "integer_model/model.hpp"

namespace tessera {

/// What import chooses and an auditor's import is given: with it, the parameters depend on the checkpoint only.
struct ImportChoices {
  Exponents exponents;
  Widths widths;  // what follows: with rotary positions
  Equalisation equalisation;
  std::size_t n_positions = 0;  // the context of a checkpoint that leaves it open; 0: not said
};

struct ImportOptions {
  std::optional<std::string> calibration_text = {};  // beside the battery; default: sampled from the model
  std::optional<double> margin = {};                 // that the largest values are multiplied with
  std::optional<ImportChoices> choices = {};         // given: no calibration
  std::optional<std::size_t> context = {};  // with rotary positions; default: that of `choices`, else the checkpoint's
  std::optional<std::uint32_t> product_bits = {};     // of a gated MLP: the width of t, where it is not to be chosen
  Progress progress = {};                             // of calibration
  std::function<void(const std::string&)> note = {};  // told what was chosen or ignored, in lines
  bool keep_float_model = true;                       // else its parameters are given back while quantizing
};

/// A quantized model beside the checkpoint that it came from.
struct ImportedModel {
  Model model;
  FloatModel float_model;
};

/// Fills in imported.model from imported.float_model, which is as before in the end where it is kept: powers of two,
/// width and exponents (of `options`, or chosen from `calibration`), int16 parameters, tables. Throws InputError for
/// values outside int16 and for bounds that do not hold.
void quantize_import(ImportedModel& imported, TokenizerData tokenizer, const ImportOptions& options,
                     const std::function<Calibration()>& calibration);

/// Loads a checkpoint (find_checkpoint) with its tokenizer, of a GGUF file a tokenizer.json beside it or else its own,
/// calibrates, quantizes and checks all derived bounds. Throws InputError for anything unusable.
ImportedModel import_model(const std::filesystem::path& path, const ImportOptions& options = {});

}  // namespace tessera
