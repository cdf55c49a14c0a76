#include "plan/limits.hpp"
#include "base/errors.hpp"
#include "model/calibration.hpp"
#include "model/checkpoint.hpp"
#include "model/import.hpp"
#include "model/quantization.hpp"
#include "model/tokenizer_files.hpp"

namespace tessera {
void quantize_import(ImportedModel& imported, TokenizerData tokenizer, const std::optional<Exponents>& exponents,
                     const std::function<Calibration()>& calibration) {
  const FloatModel& float_model = imported.float_model;
  Model& model = imported.model;
  model.shape = float_model.shape;
  model.layer_norm_epsilon = float_model.layer_norm_epsilon;
  model.tokenizer = std::move(tokenizer);
  if (exponents) {
    check_exponents(*exponents);
    model.exponents = *exponents;
  } else {
    model.calibration = calibration();
    model.exponents = choose_exponents(float_model, model.calibration);
  }
  model.parameters = quantize(float_model, model.exponents);
  check_bounds(model.shape, IntegerConstants::of(model.shape, model.layer_norm_epsilon), model.exponents,
               parameter_maxima(model.parameters));
}

ImportedModel import_model(const std::filesystem::path& folder, const ImportOptions& options) {
  ImportedModel imported;
  imported.float_model = load_checkpoint(folder);
  TokenizerData tokenizer = load_tokenizer(folder);
  const std::size_t vocabulary = imported.float_model.shape.n_vocab;
  if (tokenizer.vocabulary.size() != vocabulary) {
    throw InputError(folder.string() + ": vocab.json: expected vocab_size = " + std::to_string(vocabulary) +
                     " tokens as in config.json, found " + std::to_string(tokenizer.vocabulary.size()));
  }
  quantize_import(imported, tokenizer, options.exponents, [&] {
    const FloatTransformer transformer(imported.float_model);
    const std::uint32_t end_of_text = tokenizer.end_of_text;
    const std::vector<std::uint32_t> tokens = options.calibration_text
                                                  ? Tokenizer(tokenizer).encode(*options.calibration_text)
                                                  : sample_calibration_tokens(transformer, end_of_text);
    return calibrate(transformer, tokens, end_of_text, options.progress);
  });
  return imported;
}

}  // namespace tessera
