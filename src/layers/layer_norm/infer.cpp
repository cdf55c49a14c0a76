#include "layers/layer_norm/layer_norm.hpp"

#include "subprotocols/inference.hpp"

namespace tessera {
namespace {

std::int64_t floor_divide(std::int64_t numerator, std::int64_t denominator) {
  const std::int64_t quotient = numerator / denominator;
  return quotient - (numerator % denominator < 0 ? 1 : 0);
}

/// Of every token of a batch.
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

/// I of every token; mu, sigma and I are recorded.
std::vector<std::int64_t> infer_inverse(const InferenceContext& context, const LayerNormPlan& norm, std::size_t block,
                                        const Batch& batch, const Centred& tokens) {
  std::vector<std::int64_t> inverse(batch.size);
  for (std::size_t t = 0; t < batch.size; ++t) {
    const std::int64_t sigma = floor_sqrt(tokens.variance[t]);
    inverse[t] = norm.norm_numerator / sigma;
    context.guard.check(norm.title + " sigma", sigma, Bounds::unsigned_bits(31));
    context.guard.check(norm.title + " inverse", inverse[t], Bounds::unsigned_bits(norm.inverse_bits));
    if (context.recording()) {
      const std::size_t at = batch.first + t;
      (*context.trace)[norm.mu].chunk(block)[at] = static_cast<std::int32_t>(tokens.mean[t]);
      (*context.trace)[norm.sigma].chunk(block)[at] = static_cast<std::int32_t>(sigma);
      (*context.trace)[norm.inverse].chunk(block)[at] = static_cast<std::int32_t>(inverse[t]);
    }
  }
  return inverse;
}

}  // namespace

void infer(const InferenceContext& context, const LayerNormPlan& norm, std::size_t block, Batch& batch) {
  const std::size_t n = batch.size;
  const Centred tokens = centre(norm, batch);
  const std::vector<std::int64_t> inverse = infer_inverse(context, norm, block, batch, tokens);
  const std::span<const std::int16_t> gamma = context.vector(norm.gamma, block);
  const std::span<const std::int16_t> beta = context.vector(norm.beta, block);
  const std::vector<Dimension>& dimensions = norm.activation.dimensions();
  const Range features = context.owned(dimensions[dimensions.size() - 2]);
  // every rank needs all of u; computing it is cheaper than gathering it
  batch.u.resize(batch.x.size());
#pragma omp parallel for schedule(static) if (batch.x.size() > parallel_work)
  for (std::size_t f = 0; f < norm.features; ++f) {
    const std::int64_t gain = gamma[f];
    const std::int64_t bias = std::int64_t{beta[f]} << norm.bias_shift;
    const bool record = context.recording() && features.contains(f);
    std::int64_t* remainders = record ? trace_row((*context.trace)[norm.u_remainder], block, f) + batch.first : nullptr;
    Extent extent;
    for (std::size_t t = 0; t < n; ++t) {
      const std::int64_t normalized = (batch.x[f * n + t] - tokens.mean[t]) * inverse[t];
      const Rounded u = rshift(normalized * gain + bias, norm.shift);
      extent.include(u.quotient);
      batch.u[f * n + t] = static_cast<std::int16_t>(u.quotient);
      if (record) {
        remainders[t] = u.remainder;
      }
    }
    extent.check(context.guard, norm.title, int16_bounds);
    if (record) {
      std::copy_n(batch.u.data() + f * n, n, trace_row((*context.trace)[norm.u], block, f) + batch.first);
    }
  }
}

}  // namespace tessera
