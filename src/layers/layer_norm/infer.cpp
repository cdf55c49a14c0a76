#include "layers/layer_norm/layer_norm.hpp"

#include <algorithm>

#include "subprotocols/norm_inference.hpp"

namespace tessera {
namespace {

std::int64_t floor_divide(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t quotient = numerator / denominator;
  return quotient - (numerator % denominator < 0 ? 1 : 0);
}

/// Mean and variance of every token of a batch.
struct Centred {
  std::vector<std::int64_t> mean;      // mu
  std::vector<std::int64_t> variance;  // V
};

Centred centre(const LayerNormPlan& norm, const Batch& batch) {
  const std::size_t n = batch.size;
  const auto d = static_cast<std::int64_t>(norm.features);
  Centred tokens{std::vector<std::int64_t>(n, 0), std::vector<std::int64_t>(n, norm.epsilon)};
  for (std::size_t f = 0; f < norm.features; ++f) {
    for (std::size_t t = 0; t < n; ++t) {
      tokens.mean[t] += batch.x[f * n + t];
    }
  }
  for (std::int64_t& value : tokens.mean) {
    value = floor_divide(value + d / 2, d);
  }
  for (std::size_t f = 0; f < norm.features; ++f) {
    for (std::size_t t = 0; t < n; ++t) {
      const std::int64_t centred = batch.x[f * n + t] - tokens.mean[t];
      tokens.variance[t] += centred * centred;
    }
  }
  return tokens;
}

}  // namespace

void infer(const InferenceContext& context, const LayerNormPlan& norm, std::size_t block, Batch& batch) {
  const Centred tokens = centre(norm, batch);
  const std::vector<std::int64_t> inverse = infer_inverse(
      context, norm, {norm.title, norm.norm_numerator, norm.inverse_bits}, block, batch.first, tokens.variance);
  if (context.recording()) {
    token_row((*context.trace)[norm.mu], block).write(batch.first, tokens.mean);
  }
  const std::span<const std::int16_t> gamma = context.vector(norm.gamma, block);
  const std::span<const std::int16_t> beta = context.vector(norm.beta, block);
  infer_output(context, norm, norm, block, batch, [&](std::size_t f) {
    return [x = batch.x.data() + f * batch.size, mean = tokens.mean.data(), scale = inverse.data(),
            gain = std::int64_t{gamma[f]}, bias = std::int64_t{beta[f]} << norm.bias_shift](std::size_t t) {
      return (x[t] - mean[t]) * scale[t] * gain + bias;
    };
  });
}

}  // namespace tessera
