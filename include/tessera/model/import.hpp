#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tessera/model/float_model.hpp>
#include <tessera/model/model.hpp>

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

/// Loads a Hugging Face GPT-2 folder with its tokenizer, calibrates, quantizes and checks all derived bounds. Throws
/// InputError for anything unusable.
ImportedModel import_model(const std::filesystem::path& folder, const ImportOptions& options = {});

}  // namespace tessera
