#include "checkpoints/gguf/rope_factors.hpp"

#include <algorithm>
#include <cmath>

#include "base/errors.hpp"
#include "checkpoints/rope.hpp"

namespace tessera {
namespace {

constexpr double tolerance = 1e-4;  // the factors were computed from float32 frequencies

bool agrees(const Rope& rope, std::size_t head_size, std::span<const float> factors) {
  Rope plain;
  plain.theta = rope.theta;
  const std::vector<double> from = rotary_frequencies(plain, head_size);
  const std::vector<double> to = rotary_frequencies(rope, head_size);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (!(std::abs(from[i] / to[i] / static_cast<double>(factors[i]) - 1) < tolerance)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Rope llama3_rope(double theta, std::size_t head_size, std::span<const float> factors, const std::string& what) {
  if (factors.size() != head_size / 2) {
    throw InputError(what + ": expected " + std::to_string(head_size / 2) + " factors, found " +
                     std::to_string(factors.size()));
  }
  Rope rope;
  rope.theta = theta;
  if (agrees(rope, head_size, factors)) {
    return rope;
  }
  rope.scaling = RopeScaling::llama3;
  rope.factor = static_cast<double>(*std::ranges::max_element(factors));
  rope.low_frequency = 1;
  rope.high_frequency = 4;
  for (rope.original_positions = 1 << 10; rope.original_positions <= 1 << 20; rope.original_positions *= 2) {
    if (rope.factor > 1 && rope.factor < 1e6 && agrees(rope, head_size, factors)) {
      return rope;
    }
  }
  throw InputError(what + ": expected the factors of Llama 3's scaling, found others");
}

}  // namespace tessera
