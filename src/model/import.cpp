#include <tessera/protocol/limits.hpp>
#include <tessera/archive/errors.hpp>
#include <tessera/model/calibration.hpp>
#include <tessera/model/checkpoint.hpp>
#include <tessera/model/import.hpp>
#include <tessera/model/quantization.hpp>
#include <tessera/model/tokenizer.hpp>

namespace tessera {
namespace {

Calibration run_calibration(const FloatModel& float_model, const TokenizerData& data, const ImportOptions& options) {
  const FloatTransformer transformer(float_model);
  const std::vector<std::uint32_t> tokens = options.calibration_text
                                                ? Tokenizer(data).encode(*options.calibration_text)
                                                : sample_calibration_tokens(transformer, data.end_of_text);
  return calibrate(transformer, tokens, data.end_of_text, options.progress);
}

}  // namespace

ImportedModel import_model(const std::filesystem::path& folder, const ImportOptions& options) {
  ImportedModel imported;
  imported.float_model = load_checkpoint(folder);
  const FloatModel& float_model = imported.float_model;
  Model& model = imported.model;
  model.shape = float_model.shape;
  model.layer_norm_epsilon = float_model.layer_norm_epsilon;
  model.tokenizer = load_tokenizer(folder);
  if (model.tokenizer.vocabulary.size() != model.shape.n_vocab) {
    throw InputError(folder.string() + ": vocab.json: expected vocab_size = " + std::to_string(model.shape.n_vocab) +
                     " tokens as in config.json, found " + std::to_string(model.tokenizer.vocabulary.size()));
  }
  if (options.exponents) {
    check_exponents(*options.exponents);
    model.exponents = *options.exponents;
  } else {
    model.calibration = run_calibration(float_model, model.tokenizer, options);
    model.exponents = choose_exponents(float_model, model.calibration);
  }
  model.parameters = quantize(float_model, model.exponents);
  check_bounds(model.shape, IntegerConstants::of(model.shape, model.layer_norm_epsilon), model.exponents,
               model.parameters);
  return imported;
}

}  // namespace tessera
