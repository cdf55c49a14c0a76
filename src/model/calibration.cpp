#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include "base/errors.hpp"
#include "model/calibration.hpp"
#include "plan/limits.hpp"
#include "model/quantization.hpp"

namespace tessera {
namespace {

constexpr std::size_t sampled_sequences = 8;
constexpr std::size_t sampled_length =
    256;                              // sampling costs a pass over the weights a step: keep it short in long contexts
constexpr int largest_exponent = 24;  // of values that are tiny or zero

/// Largest a <= cap with maximum*2^a <= 32767.
int fitting_exponent(double maximum, int cap) {
  if (maximum == 0) {
    return cap;
  }
  int exponent = 0;
  std::frexp(maximum, &exponent);  // maximum = f*2^exponent, 1/2 <= f < 1
  const int a = 15 - exponent;
  return std::min(cap, std::ldexp(maximum, a) <= 32767.0 ? a : a - 1);
}

/// How many tokens of text come before the filler.
std::set<std::size_t> text_lengths(std::size_t positions, std::size_t padded) {
  // One more than a power of two has the most filler.
  std::set<std::size_t> lengths = {0, 1, 3, padded / 8 + 1, padded / 4 + 1, padded / 2 + 1, positions * 3 / 4};
  if (padded > positions) {
    lengths.insert(positions);
  }
  return lengths;
}

}  // namespace

std::vector<std::uint32_t> sample_calibration_tokens(const FloatTransformer& model, std::uint32_t end_of_text) {
  const std::size_t length = std::min(sampled_length, model.shape().n_positions);
  std::vector<std::uint32_t> tokens;
  for (const auto& sequence : sample_sequences(model, end_of_text, sampled_sequences, length)) {
    tokens.insert(tokens.end(), sequence.begin(), sequence.end());
  }
  return tokens;
}

Calibration calibrate(const FloatTransformer& model, std::span<const std::uint32_t> tokens, std::uint32_t filler,
                      const Progress& progress) {
  if (tokens.empty()) {
    throw InputError("calibration text: expected at least one token, found none");
  }
  const ModelShape& shape = model.shape();
  const std::size_t padded = std::bit_ceil(shape.n_positions);
  const std::size_t window = std::min(shape.n_positions, tokens.size());
  const std::size_t stride = std::max<std::size_t>(1, window * 3 / 4);
  ActivationRanges ranges;
  const auto run = [&](std::span<const std::uint32_t> sequence) {
    KeyValueCache cache(shape, sequence.size());
    static_cast<void>(model.extend({&cache, 1}, sequence, &ranges));
  };
  for (std::size_t end = window; end <= tokens.size(); end += stride) {
    run(tokens.subspan(end - window, window));
    if (progress) {
      progress(end, tokens.size());
    }
  }
  run(tokens.last(window));
  std::size_t begin = 0;
  for (const std::size_t length : text_lengths(shape.n_positions, padded)) {
    const std::size_t taken = std::min({length, tokens.size(), shape.n_positions});
    std::vector<std::uint32_t> sequence(padded, filler);
    begin = begin + taken > tokens.size() ? 0 : begin;
    std::copy_n(tokens.begin() + static_cast<std::ptrdiff_t>(begin), taken, sequence.begin());
    begin += taken;
    run(sequence);
  }
  return {std::move(ranges), 2.0};
}

Exponents choose_exponents(const FloatModel& model, const Calibration& calibration) {
  const ByParameter<double> weights = parameter_maxima(model);
  const auto activation = [&](const char* kind, int cap = largest_exponent) {
    return fitting_exponent(calibration.maxima.at(kind) * calibration.margin, cap);
  };
  const auto weight = [&](ParameterId id) { return fitting_exponent(weights[id], largest_exponent); };
  Exponents x;
  x.u1 = activation("u1");
  x.u2 = activation("u2");
  x.uf = activation("uf");
  // Outputs give way where even the finest weights would make a shift below 1.
  x.q = std::min(activation("q"), weight(wq) + x.u1 - 1);
  x.k = std::min(activation("k"), weight(wk) + x.u1 - 1);
  x.v = std::min({activation("v"), activation("y"), weight(wv) + x.u1 - 1});
  x.mlp = std::min(activation("mlp", max_mlp_exponent), weight(w1) + x.u2 - 1);
  x.gelu = std::min(activation("gelu"), x.mlp);
  x.score = activation("score", max_score_exponent);
  while (x.shift_score() > 16) {
    --(x.q >= x.k ? x.q : x.k);
  }
  x.score = std::min(x.score, x.q + x.k - 1);
  // Weights give way where a shift would be above 16.
  x.wq = std::min(weight(wq), 16 + x.q - x.u1);
  x.wk = std::min(weight(wk), 16 + x.k - x.u1);
  x.wv = std::min(weight(wv), 16 + x.v - x.u1);
  x.wo = std::min(weight(wo), 16 + x.residual - x.v);
  x.w1 = std::min(weight(w1), 16 + x.mlp - x.u2);
  x.w2 = std::min(weight(w2), 16 + x.residual - x.gelu);
  x.bq = std::min(weight(bq), x.wq + x.u1);
  x.bk = std::min(weight(bk), x.wk + x.u1);
  x.bv = std::min(weight(bv), x.wv + x.u1);
  x.bo = std::min(weight(bo), x.wo + x.v);
  x.b1 = std::min(weight(b1), x.w1 + x.u2);
  x.b2 = std::min(weight(b2), x.w2 + x.gelu);
  const auto norm = [&](ParameterId gamma, ParameterId beta, int u, int& a_gamma, int& a_beta) {
    a_gamma = std::min(weight(gamma), 32 - Exponents::normalized + u);
    a_beta = std::min(weight(beta), Exponents::normalized + a_gamma);
  };
  norm(gamma1, beta1, x.u1, x.gamma1, x.beta1);
  norm(gamma2, beta2, x.u2, x.gamma2, x.beta2);
  norm(gammaf, betaf, x.uf, x.gammaf, x.betaf);
  check_exponents(x);
  return x;
}

}  // namespace tessera
