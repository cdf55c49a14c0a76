#include "model/rope.hpp"

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

}  // namespace

std::vector<double> rotary_frequencies(const Rope& rope, std::size_t head_size) {
  std::vector<double> frequencies(head_size / 2);
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double plain = std::pow(rope.theta, -static_cast<double>(2 * i) / static_cast<double>(head_size));
    if (rope.scaling == RopeScaling::llama3) {
      frequencies[i] = llama3_frequency(rope, plain);
    } else {
      frequencies[i] = rope.scaling == RopeScaling::linear ? plain / rope.factor : plain;
    }
  }
  return frequencies;
}

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
