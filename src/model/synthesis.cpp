#include <algorithm>
#include <cmath>
#include <random>
#include "base/errors.hpp"
#include "model/calibration.hpp"
#include "model/equalisation.hpp"
#include "model/synthesis.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr std::size_t max_calibration_tokens = 512;
constexpr std::size_t llama_calibration_context = 256;  // their parameters do not depend on it: large shapes are slow
constexpr std::size_t channels_an_outlier = 256;

/// Sum of twelve 16-bit integers, centred: variance 12*(2^32 - 1)/12, close to normal, the same on every machine.
double normal(std::mt19937_64& generator) {
  std::int64_t sum = 0;
  for (int i = 0; i < 3; ++i) {
    std::uint64_t bits = generator();
    for (int j = 0; j < 4; ++j) {
      sum += static_cast<std::int64_t>(bits & 0xFFFF);
      bits >>= 16U;
    }
  }
  return (static_cast<double>(sum) - 6.0 * 65535.0) * 0x1p-16;
}

FloatModel synthesize_parameters(const CheckpointConfig& config, std::uint64_t seed) {
  const ModelShape& shape = config.shape;
  FloatModel model{shape, config.layer_norm_epsilon, FloatParameters(shape), config.rope, config.activation};
  std::mt19937_64 generator(seed);
  const double depth = std::sqrt(2.0 * static_cast<double>(shape.n_layer));
  for (const int turn : {0, 1}) {
    for (const ParameterRow& row : parameter_table(shape)) {
      const SyntheticValues& synthetic = row.synthetic;
      if (synthetic.turn != turn) {
        continue;
      }
      const double inputs = std::sqrt(static_cast<double>(axis_length(row.columns, shape)));
      const double deviation =
          synthetic.deviation / ((synthetic.by_inputs ? inputs : 1) * (synthetic.by_depth ? depth : 1));
      for (float& value : model.parameters[row.id].values()) {
        value = static_cast<float>(synthetic.mean + deviation * normal(generator));
      }
    }
  }
  return model;
}

/// 2^4 to 2^8.
int outlier_power(std::mt19937_64& generator) { return 4 + static_cast<int>(generator() % 5); }

/// Outliers as trained models have them: single channels of norms, values and products that are 2^4 to 2^8 times the
/// others where they are made and as much smaller where they are read; channels of the residual stream into which the
/// embedding and one block's W_down write as much more.
void add_outliers(FloatModel& model, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  const ModelShape& shape = model.shape;
  Equalisation powers = no_equalisation(shape);
  for (const std::string_view place : {"norm_1", "norm_2", "product", "value"}) {
    std::vector<std::int16_t>& channels = powers.find(place)->second;
    for (std::size_t i = 0; i < channels.size() / channels_an_outlier; ++i) {
      channels[generator() % channels.size()] = static_cast<std::int16_t>(-outlier_power(generator));
    }
  }
  apply_powers(model, powers);
  const std::size_t d = shape.n_embd;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, d / channels_an_outlier); ++i) {
    const std::size_t channel = generator() % d;
    const float factor = std::ldexp(1.0F, outlier_power(generator));
    const std::span<float> values = model.parameters[embedding].values();
    for (std::size_t token = 0; token < shape.n_vocab; ++token) {
      float& value = values[token * d + channel];
      value = std::clamp(value * factor, -7.5F, 7.5F);  // int16 at the residual stream's exponent
    }
    const std::size_t block = generator() % shape.n_layer;
    for (float& value :
         model.parameters[w_down].values().subspan((block * d + channel) * shape.n_inner, shape.n_inner)) {
      value *= factor;
    }
  }
}

TokenizerData synthesize_tokenizer(const ModelShape& shape) {
  TokenizerData data;
  for (std::size_t id = 0; id < shape.n_vocab; ++id) {
    data.vocabulary.push_back(id < 256 ? std::string(1, static_cast<char>(id)) : " #" + std::to_string(id));
  }
  data.end_of_text = static_cast<std::uint32_t>(shape.n_vocab - 1);
  return data;
}

}  // namespace

ImportedModel synthesize_model(const CheckpointConfig& config, std::uint64_t seed, const Progress& progress) {
  const ModelShape& shape = config.shape;
  check_shape(shape);
  ImportedModel result;
  result.float_model = synthesize_parameters(config, seed);
  if (!shape.gpt2()) {
    add_outliers(result.float_model, seed + 2);
  }
  std::mt19937_64 generator(seed + 1);
  std::vector<std::uint32_t> tokens(std::min(shape.n_positions, max_calibration_tokens));
  for (std::uint32_t& token : tokens) {
    token = static_cast<std::uint32_t>(generator() % shape.n_vocab);
  }
  TokenizerData tokenizer = synthesize_tokenizer(shape);
  const std::uint32_t filler = tokenizer.end_of_text;
  quantize_import(result, std::move(tokenizer), {}, [&] {
    std::size_t& positions = result.float_model.shape.n_positions;
    if (!shape.gpt2()) {
      positions = std::min(positions, llama_calibration_context);
    }
    Calibration calibration = calibrate(FloatTransformer(result.float_model), tokens, filler, progress);
    positions = shape.n_positions;
    return calibration;
  });
  return result;
}

}  // namespace tessera
