#include <algorithm>
#include <cmath>
#include <random>
#include "arithmetic/clones.hpp"
#include "integer_model/equalisation.hpp"
#include "integer_model/synthesis.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr std::size_t calibration_tokens = 256;
constexpr double calibration_margin = 4;
constexpr std::size_t channels_an_outlier = 256;
constexpr std::size_t values_at_once = std::size_t{1} << 16U;  // values that a thread makes at a time

/// Number `index` of a stream of random bits: SplitMix64, which needs no earlier ones.
std::uint64_t random_bits(std::uint64_t stream, std::uint64_t index) {
  std::uint64_t z = stream + (index + 1) * 0x9E3779B97F4A7C15U;
  z = (z ^ z >> 30U) * 0xBF58476D1CE4E5B9U;
  z = (z ^ z >> 27U) * 0x94D049BB133111EBU;
  return z ^ z >> 31U;
}

/// Sum of twelve 16-bit integers, centred: variance 12*(2^32 - 1)/12, close to normal, the same on every machine.
double normal_deviate(std::uint64_t stream, std::uint64_t index) {
  std::int64_t sum = 0;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const std::uint64_t bits = random_bits(stream, 3 * index + i);
    // 16 bits a number, added in pairs
    const std::uint64_t pairs = (bits & 0x0000FFFF0000FFFFU) + (bits >> 16U & 0x0000FFFF0000FFFFU);
    sum += static_cast<std::int64_t>((pairs & 0xFFFFFFFFU) + (pairs >> 32U));
  }
  return static_cast<double>(sum - 6 * 65535) * 0x1p-16;
}

TESSERA_CLONES(void, synthesize_piece,
               (float* values, std::size_t size, std::uint64_t stream, std::uint64_t first, double mean,
                double deviation),
               (values, size, stream, first, mean, deviation)) {
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = static_cast<float>(mean + deviation * normal_deviate(stream, first + i));
  }
}

FloatModel synthesize_parameters(const CheckpointConfig& config, std::uint64_t seed) {
  const ModelShape& shape = config.shape;
  FloatModel model{shape,        config.layer_norm_epsilon, FloatParameters(shape),
                   config.ropes, config.activation,         config.factors,
                   config.caps};
  const double depth = std::sqrt(2.0 * static_cast<double>(shape.n_layer));
  for (const ParameterRow& row : parameter_table(shape)) {
    const double inputs = std::sqrt(static_cast<double>(axis_length(row.columns, shape)));
    const double deviation =
        row.synthetic.deviation / ((row.synthetic.by_inputs ? inputs : 1) * (row.synthetic.by_depth ? depth : 1));
    const std::uint64_t stream = random_bits(random_bits(0, seed), row.id);
    const std::span<float> values = model.parameters[row.id].values();
#pragma omp parallel for schedule(static)
    for (std::size_t first = 0; first < values.size(); first += values_at_once) {
      synthesize_piece(values.data() + first, std::min(values_at_once, values.size() - first), stream, first,
                       row.synthetic.mean, deviation);
    }
  }
  return model;
}

/// 2^5 to 2^10.
int outlier_power(std::mt19937_64& generator) { return 5 + static_cast<int>(generator() % 6); }

/// Channels of norms' outputs, values, products and rotated pairs are made larger where they are made and as much
/// smaller where they are read: a power is what the making weights are divided by.
void add_channel_outliers(FloatModel& model, std::mt19937_64& generator) {
  Equalisation powers = no_equalisation(model.shape);
  for (auto& [place, channels] : powers) {
    const std::size_t outliers = std::max<std::size_t>(1, channels.size() / channels_an_outlier);
    for (std::size_t i = 0; i < outliers; ++i) {
      channels[generator() % channels.size()] = static_cast<std::int16_t>(-outlier_power(generator));
    }
  }
  apply_powers(model, powers);
}

/// Channels of the residual stream into which the embedding and one block write far more than into others. All norms
/// have as small a gain for them: else such a channel would be all that the model sees.
void add_residual_outliers(FloatModel& model, std::mt19937_64& generator) {
  const ModelShape& shape = model.shape;
  const std::size_t d = shape.n_embd;
  const std::span<float> vectors = model.parameters[embedding].values();
  for (std::size_t i = 0; i < std::max<std::size_t>(1, d / channels_an_outlier); ++i) {
    const std::size_t channel = generator() % d;
    const float factor = std::ldexp(1.0F, outlier_power(generator));
    for (std::size_t token = 0; token < shape.n_vocab; ++token) {
      float& value = vectors[token * d + channel];
      value = std::clamp(value * factor, -7.5F, 7.5F);  // int16 at the residual stream's exponent
    }
    const std::size_t block = generator() % shape.n_layer;
    for (float& value : model.parameters[shape.gated() ? w_down : w2].values().subspan(
             (block * d + channel) * shape.n_inner, shape.n_inner)) {
      value *= factor;
    }
    for (const ParameterId id : {gamma1, gamma2, gammaf}) {
      const std::span<float> gains = model.parameters[id].values();
      for (std::size_t place = channel; place < gains.size(); place += d) {
        gains[place] /= factor;
      }
    }
  }
}

/// Fillers, random tokens, fillers again.
std::vector<std::uint32_t> synthesize_text(const ModelShape& shape, std::uint64_t seed, std::uint32_t filler) {
  std::vector<std::uint32_t> tokens(std::min(shape.n_positions, calibration_tokens), filler);
  for (std::size_t i = tokens.size() / 8; i < tokens.size() * 3 / 4; ++i) {
    tokens[i] = static_cast<std::uint32_t>(random_bits(seed, i) % shape.n_vocab);
  }
  return tokens;
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

Model synthesize_model(const CheckpointConfig& config, std::uint64_t seed) {
  const ModelShape& shape = config.shape;
  check_shape(shape);
  ImportedModel result;
  result.float_model = synthesize_parameters(config, seed);
  if (shape.rotary()) {
    std::mt19937_64 generator(seed);
    add_channel_outliers(result.float_model, generator);
    add_residual_outliers(result.float_model, generator);
  }
  TokenizerData tokenizer = synthesize_tokenizer(shape);
  const std::vector<std::uint32_t> tokens = synthesize_text(shape, seed, tokenizer.end_of_text);
  ImportOptions options;
  options.keep_float_model = false;
  quantize_import(result, std::move(tokenizer), options, [&] {
    Calibration calibration;
    calibration.margin = calibration_margin;
    KeyValueCache cache(shape, tokens.size());
    static_cast<void>(
        FloatTransformer(result.float_model).extend({&cache, 1}, tokens, &calibration.maxima, &calibration.channels));
    return calibration;
  });
  return std::move(result.model);
}

}  // namespace tessera
