#include <cmath>
#include <random>
#include "base/errors.hpp"
#include "model/calibration.hpp"
#include "model/synthesis.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr std::size_t max_calibration_tokens = 512;

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

FloatModel synthesize_parameters(const ModelShape& shape, double layer_norm_epsilon, std::uint64_t seed) {
  FloatModel model{shape, layer_norm_epsilon, FloatParameters(shape)};
  std::mt19937_64 generator(seed);
  const double depth = std::sqrt(2.0 * static_cast<double>(shape.n_layer));
  for (const int turn : {0, 1}) {
    for (const ParameterRow& row : parameter_table()) {
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

TokenizerData synthesize_tokenizer(const ModelShape& shape) {
  TokenizerData data;
  for (std::size_t id = 0; id < shape.n_vocab; ++id) {
    data.vocabulary.push_back(id < 256 ? std::string(1, static_cast<char>(id)) : " #" + std::to_string(id));
  }
  data.end_of_text = static_cast<std::uint32_t>(shape.n_vocab - 1);
  return data;
}

}  // namespace

ImportedModel synthesize_model(const ModelShape& shape, double layer_norm_epsilon, std::uint64_t seed,
                               const Progress& progress) {
  check_shape(shape);
  ImportedModel result;
  result.float_model = synthesize_parameters(shape, layer_norm_epsilon, seed);
  std::mt19937_64 generator(seed + 1);
  std::vector<std::uint32_t> tokens(std::min(shape.n_positions, max_calibration_tokens));
  for (std::uint32_t& token : tokens) {
    token = static_cast<std::uint32_t>(generator() % shape.n_vocab);
  }
  TokenizerData tokenizer = synthesize_tokenizer(shape);
  const std::uint32_t filler = tokenizer.end_of_text;
  quantize_import(result, std::move(tokenizer), {},
                  [&] { return calibrate(FloatTransformer(result.float_model), tokens, filler, progress); });
  return result;
}

}  // namespace tessera
