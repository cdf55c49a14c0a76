#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include "model/float_model.hpp"
#include "model/model.hpp"

namespace tessera {

struct ImportOptions {
  std::optional<std::string> calibration_text;  // default: text sampled from the model itself
  std::optional<Exponents> exponents;           // given: no calibration; the result depends on the checkpoint only
  Progress progress;                            // of calibration
};

/// A quantized model beside the checkpoint that it came from.
struct ImportedModel {
  Model model;
  FloatModel float_model;
};

/// Fills in imported.model from imported.float_model: exponents (given, or chosen from `calibration`), int16
/// parameters. Throws InputError for values outside int16 and for bounds that do not hold.
void quantize_import(ImportedModel& imported, TokenizerData tokenizer, const std::optional<Exponents>& exponents,
                     const std::function<Calibration()>& calibration);

/// Loads a Hugging Face GPT-2 folder with its tokenizer, calibrates, quantizes and checks all derived bounds. Throws
/// InputError for anything unusable.
ImportedModel import_model(const std::filesystem::path& folder, const ImportOptions& options = {});

}  // namespace tessera
