#include "integer_model/import.hpp"

#include <future>

#include "base/errors.hpp"
#include "float_model/calibration.hpp"
#include "checkpoints/checkpoint.hpp"
#include "checkpoints/end_tokens.hpp"
#include "integer_model/equalisation.hpp"
#include "checkpoints/gguf/tokenizer.hpp"
#include "checkpoints/origin.hpp"
#include "integer_model/quantization.hpp"
#include "checkpoints/tokenizer_files.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

std::vector<std::int16_t> rotary_table_of(const FloatModel& model) {
  try {
    std::vector<std::int16_t> tables;
    for (const Rope& rope : model.ropes) {
      const std::vector<std::int16_t> one = rotary_table(rope, model.shape.head_size() / 2, model.shape.n_positions);
      tables.insert(tables.end(), one.begin(), one.end());
    }
    return tables;
  } catch (const std::invalid_argument& error) {
    throw InputError(error.what());
  }
}

/// Takes the choices that were given. The exponents are checked before anything costs time.
void take(const ImportChoices& choices, const ModelShape& shape, Model& model) {
  check_widths(shape, choices.widths);
  check_exponents(shape, choices.exponents, choices.widths);
  model.exponents = choices.exponents;
  model.widths = choices.widths;
  if (shape.rotary()) {
    model.equalisation = no_equalisation(shape);
    for (const auto& [place, powers] : choices.equalisation) {
      model.equalisation[place] = powers;
    }
  }
}

/// Chooses powers, widths and exponents. Equalises the float model.
void choose(FloatModel& float_model, const Calibration& found, const ImportOptions& options, Model& model) {
  model.calibration = found;
  model.equalisation = equalise(float_model, model.calibration);
  if (float_model.shape.rotary()) {
    const bool gated = float_model.shape.gated();
    const std::uint32_t product_bits =
        gated ? options.product_bits.value_or(choose_product_bits(float_model, model.calibration)) : 16;
    if (product_bits > 16) {
      // t has bits for its outliers: columns of W_down do not pay for them
      apply_powers(float_model, inverse(model.equalisation));
      model.calibration = found;
      model.equalisation = equalise(float_model, model.calibration, true);
    }
    model.widths = choose_widths(float_model, model.calibration, product_bits);
  }
  model.exponents = choose_exponents(float_model, model.calibration, model.widths);
}

/// Notes what it takes among several.
TokenizerData load_checkpoint_tokenizer(CheckpointFiles& files, const ModelShape& shape) {
  if (files.format == CheckpointFormat::safetensors) {
    return load_tokenizer(files.folder, shape, {}, &files.notes);
  }
  const GgufFile file(files.weights);
  if (std::filesystem::exists(files.folder / "tokenizer.json")) {
    files.notes.emplace_back("tokenizer.json beside the GGUF file is taken in place of its own tokenizer");
    TokenizerData tokenizer = load_tokenizer(files.folder, shape, gguf_end_of_text(file, shape.n_vocab), &files.notes);
    if (folder_ends(files.folder, shape.n_vocab).empty()) {
      take_ends(tokenizer, gguf_ends(file, shape.n_vocab), file.name() + ": tokenizer: ");
    }
    return tokenizer;
  }
  TokenizerData tokenizer = read_gguf_tokenizer(file);
  if (tokenizer.vocabulary.size() != shape.n_vocab) {
    throw InputError(files.weights.string() + ": expected vocab_size = " + std::to_string(shape.n_vocab) +
                     " tokens as the model has, found " + std::to_string(tokenizer.vocabulary.size()));
  }
  return tokenizer;
}

}  // namespace

void quantize_import(ImportedModel& imported, TokenizerData tokenizer, const ImportOptions& options,
                     const std::function<Calibration()>& calibration) {
  FloatModel& float_model = imported.float_model;
  const ModelShape& shape = float_model.shape;
  Model& model = imported.model;
  model.shape = shape;
  model.layer_norm_epsilon = float_model.layer_norm_epsilon;
  model.activation = float_model.activation;
  model.caps = float_model.caps;
  model.tokenizer = std::move(tokenizer);
  if (!shape.gated() && options.product_bits) {
    throw InputError("width of t: expected a model with a gated MLP, found one with a plain MLP");
  }
  if (shape.rotary()) {
    model.rotary_table = rotary_table_of(float_model);
  }
  if (options.choices) {
    take(*options.choices, shape, model);
    apply_powers(float_model, model.equalisation);
  } else {
    choose(float_model, calibration(), options, model);
  }
  if (options.keep_float_model) {
    model.parameters = quantize(float_model, model.exponents);
    apply_powers(float_model, inverse(model.equalisation));
  } else {
    model.parameters = quantize(std::move(float_model), model.exponents);
  }
  check_bounds(model, parameter_maxima(model.parameters));
}

ImportedModel import_model(const std::filesystem::path& path, const ImportOptions& options) {
  std::optional<std::size_t> context = options.context;
  if (!context && options.choices && options.choices->n_positions != 0) {
    context = options.choices->n_positions;
  }
  CheckpointFiles files = find_checkpoint(path);
  ImportedModel imported;
  imported.float_model = load_checkpoint(files, context);
  const TokenizerData tokenizer = load_checkpoint_tokenizer(files, imported.float_model.shape);
  for (const std::string& note : files.notes) {
    if (options.note) {
      options.note(note);
    }
  }
  // beside calibration, which leaves the disk alone
  std::future<Origin> origin = std::async(std::launch::async, [&] { return origin_of(files); });
  quantize_import(imported, tokenizer, options, [&] {
    const SingleTransformer transformer(imported.float_model);
    const std::uint32_t first = tokenizer.prefix.empty() ? tokenizer.end_of_text : tokenizer.prefix.back();
    const std::vector<std::uint32_t> tokens =
        options.calibration_text ? Tokenizer(tokenizer).encode(*options.calibration_text)
                                 : sample_calibration_tokens(transformer, first, special_tokens(tokenizer));
    Calibration calibration = calibrate(transformer, tokens, tokenizer.end_of_text,
                                        calibration_battery(imported.float_model.shape, tokenizer), options.progress);
    calibration.margin = options.margin.value_or(calibration.margin);
    return calibration;
  });
  imported.model.origin = origin.get();
  return imported;
}

}  // namespace tessera
