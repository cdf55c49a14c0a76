#include "checkpoints/rope.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera {
namespace {

/// Llama 3: long waves are stretched, short ones stay, those between are mixed by their length.
double llama3_frequency(const Rope& rope, double frequency) {
  const double turns = rope.original_positions * frequency / (2 * std::numbers::pi);  // within the original context
  if (turns < rope.low_frequency) {
    return frequency / rope.factor;
  }
  if (turns > rope.high_frequency) {
    return frequency;
  }
  const double kept = (turns - rope.low_frequency) / (rope.high_frequency - rope.low_frequency);
  return (1 - kept) * frequency / rope.factor + kept * frequency;
}

double scaled_frequency(const Rope& rope, double plain, std::size_t i) {
  switch (rope.scaling) {
    case RopeScaling::none:
      return plain;
    case RopeScaling::linear:
      return plain / rope.factor;
    case RopeScaling::llama3:
      return llama3_frequency(rope, plain);
    case RopeScaling::yarn: {
      const double share = yarn_share(rope, i);
      return share * plain + (1 - share) * plain / rope.factor;
    }
    case RopeScaling::listed:
      return plain / rope.pair_factors[i];
  }
  return plain;
}

}  // namespace

std::vector<double> rotary_frequencies(const Rope& rope, std::size_t head_size) {
  std::vector<double> frequencies(head_size / 2);
  const std::size_t turned = std::min(rope.turned, frequencies.size());
  for (std::size_t i = 0; i < turned; ++i) {
    const double plain = std::pow(rope.theta, -static_cast<double>(i) / static_cast<double>(turned));
    frequencies[i] = scaled_frequency(rope, plain, i);
  }
  return frequencies;
}

void mix_by_turns(Rope& rope, const YarnTurns& turns, std::size_t places) {
  const auto number = [&](double count) {
    return static_cast<double>(places) * std::log(rope.original_positions / (count * 2 * std::numbers::pi)) /
           (2 * std::log(rope.theta));
  };
  const double first = turns.whole ? std::floor(number(turns.fast)) : number(turns.fast);
  const double last = turns.whole ? std::ceil(number(turns.slow)) : number(turns.slow);
  rope.first_mixed = std::max(first, 0.0);
  rope.last_mixed = std::min(last, static_cast<double>(places) - 1);
  if (rope.first_mixed == rope.last_mixed) {
    rope.last_mixed += 0.001;
  }
}

double yarn_attention(double factor, double weight) { return factor <= 1 ? 1 : 0.1 * weight * std::log(factor) + 1; }

std::vector<double> rotary_values(const Rope& rope, const ModelShape& shape) {
  const std::vector<double> frequencies = rotary_frequencies(rope, shape.head_size());
  const std::size_t count = shape.n_positions * frequencies.size();
  std::vector<double> values(2 * count);
  for (std::size_t position = 0; position < shape.n_positions; ++position) {
    for (std::size_t i = 0; i < frequencies.size(); ++i) {
      const double angle = static_cast<double>(position) * frequencies[i];
      values[position * frequencies.size() + i] = std::cos(angle);
      values[count + position * frequencies.size() + i] = std::sin(angle);
    }
  }
  return values;
}

}  // namespace tessera
