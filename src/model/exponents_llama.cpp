#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/errors.hpp"
#include "model/calibration.hpp"
#include "model/exponents.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

// Rounding t adds to each channel of the residual stream, in units of 2^-12, about 2^(12 - a_t)*|row of W_down| a
// token.
constexpr double tolerated_update_error = 10;
constexpr int update_exponent = 12;
// Exponents of the gate and of logits from which rounding no longer shows in the divergence.
constexpr int fine_gate = 10;
constexpr double fine_logits = 5e-7;  // nats a token
// The exponent of the activation, whose values nothing ranges over: rounding it is then nothing beside rounding t.
constexpr int fine_activation = 14;

/// Norms of all rows of a matrix.
std::vector<double> row_norms(const FloatModel& model, ParameterId id) {
  const ParameterExtents extents = parameter_row(model.shape, id).extents(model.shape);
  const std::span<const float> values = model.parameters[id].values();
  std::vector<double> norms(extents.blocks * extents.rows);
#pragma omp parallel for schedule(static)
  for (std::size_t row = 0; row < norms.size(); ++row) {
    double squares = 0;
    for (const float value : values.subspan(row * extents.columns, extents.columns)) {
      squares += static_cast<double>(value) * value;
    }
    norms[row] = std::sqrt(squares);
  }
  return norms;
}

double median_row_norm(const FloatModel& model) {
  std::vector<double> norms = row_norms(model, w_down);
  const auto middle = norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 2);
  std::ranges::nth_element(norms, middle);
  return *middle;
}

/// The least exponent of t whose rounding is tolerable.
int needed_product_exponent(const FloatModel& model) {
  const double norm = median_row_norm(model);
  return norm == 0 ? std::numeric_limits<std::int8_t>::min()
                   : update_exponent + static_cast<int>(std::ceil(std::log2(norm / tolerated_update_error)));
}

/// What rounding u_f to multiples of 2^-exponent adds to the divergence: half the variance of a logit.
double final_divergence(const FloatModel& model, int exponent) {
  const std::vector<double> norms = row_norms(model, model.shape.tied ? embedding : head);
  double squares = 0;
  for (const double norm : norms) {
    squares += norm * norm;
  }
  return std::ldexp(squares / static_cast<double>(norms.size()) / 24, -2 * exponent);
}

double stream_epsilon(const FloatModel& model, int exponent) {
  return static_cast<double>(model.shape.n_embd) * std::ldexp(model.layer_norm_epsilon, 2 * exponent);
}

/// The largest with which the stream has its margin, embeddings fit int16 and eps' its limit.
int residual_exponent(const FloatModel& model, const FittingExponents& fits) {
  const unsigned bits = IntegerConstants::of(model.shape, model.layer_norm_epsilon).residual_bits;
  const Limit& limit = limit_of("residual");
  const auto most = static_cast<int>(limit.most);
  int exponent = std::min(fits.activation("residual", most, bits), fits.weight(embedding));
  while (exponent > limit.least && stream_epsilon(model, exponent) > static_cast<double>(max_epsilon)) {
    --exponent;
  }
  if (!limit.allows(exponent)) {
    std::ostringstream message;
    message << "residual stream: expected values that fit " << bits << " bits with exponent " << limit.least
            << " or more, found " << fits.range("residual") << " with the margin of calibration";
    throw InputError(message.str());
  }
  return exponent;
}

// A finer stream than this needs a finer inverse than the coarsest: I has the exponent 16 + xi - residual.
constexpr int coarse_residual = 12;
int finest_residual(std::uint32_t norm_shift) { return std::max(coarse_residual, static_cast<int>(norm_shift) - 2); }

/// The finest inverse with which the model keeps its own epsilon, and the gains of a final norm that are not folded
/// their bits.
std::uint32_t norm_shift(const FloatModel& model, const FittingExponents& fits, int residual, unsigned final_bits) {
  const Limit& limit = limit_of("norm_shift");
  const int final_shift = fits.weight(gammaf) - fits.activation("uf", FittingExponents::largest, final_bits);
  const auto fitting = [&](const Widths& widths) {
    return std::llround(stream_epsilon(model, residual)) >= IntegerConstants::least_epsilon(model.shape, widths) &&
           (!model.shape.tied || Exponents::normalized(widths) + final_shift <= 32);
  };
  Widths widths{.norm_shift = static_cast<std::uint32_t>(limit.most)};
  while (widths.norm_shift > limit.least && !fitting(widths)) {
    --widths.norm_shift;
  }
  return widths.norm_shift;
}

/// Exponents of queries, keys and scores, and of what they are made from.
void fit_scores(const FloatModel& model, const FittingExponents& fits, Exponents& x) {
  const auto weight = [&](ParameterId id) { return fits.weight(id); };
  const ModelShape& shape = model.shape;
  // Outputs give way where even the finest weights would make a shift below 1; weights where it would be too wide.
  const auto head_norm_input = [&](const char* kind, ParameterId w) {
    int a = std::min(fits.activation(kind), weight(w) + x.u1 - 1);
    while (head_epsilon(shape, model.layer_norm_epsilon, a) > max_epsilon) {
      --a;
    }
    return a;
  };
  if (shape.head_norm) {
    constexpr int normed = Exponents::head_norm + Exponents::rotary;
    x.hq = head_norm_input("hq", wq);
    x.hk = head_norm_input("hk", wk);
    x.q = std::min(fits.activation("q"), normed + weight(gamma_q) - 1);
    x.k = std::min(fits.activation("k"), normed + weight(gamma_k) - 1);
  } else {
    x.q = std::min(fits.activation("q"), weight(wq) + x.u1 + Exponents::rotary - 1);
    x.k = std::min(fits.activation("k"), weight(wk) + x.u1 + Exponents::rotary - 1);
  }
  x.score = fits.activation("score", max_score_exponent);
  fit_score_shift(x);
  if (shape.head_norm) {
    x.wq = std::min(weight(wq), 16 + x.hq - x.u1);
    x.wk = std::min(weight(wk), 16 + x.hk - x.u1);
    x.gamma_q = std::min(weight(gamma_q), 40 - Exponents::head_norm - Exponents::rotary + x.q);
    x.gamma_k = std::min(weight(gamma_k), 40 - Exponents::head_norm - Exponents::rotary + x.k);
  } else {
    x.wq = std::min(weight(wq), 32 - Exponents::rotary + x.q - x.u1);
    x.wk = std::min(weight(wk), 32 - Exponents::rotary + x.k - x.u1);
  }
}

}  // namespace

std::uint32_t choose_product_bits(const FloatModel& model, const Calibration& calibration) {
  const FittingExponents fits(model, calibration);
  const bool narrow = fits.activation("product") >= needed_product_exponent(model);
  return narrow ? 16 : static_cast<std::uint32_t>(limit_of("product_bits").most);
}

Widths choose_widths(const FloatModel& model, const Calibration& calibration, std::uint32_t product_bits) {
  const FittingExponents fits(model, calibration);
  Widths widths;
  widths.product_bits = product_bits;
  widths.gate_bits = fits.activation("mlp") < fine_gate ? 18 : 16;
  widths.final_bits = final_divergence(model, fits.activation("uf")) > fine_logits ? 24 : 16;
  int residual = residual_exponent(model, fits);
  do {
    widths.norm_shift = norm_shift(model, fits, residual, widths.final_bits);
  } while (residual-- > finest_residual(widths.norm_shift));
  return widths;
}

Exponents llama_exponents(const FloatModel& model, const Calibration& calibration, const Widths& widths) {
  const FittingExponents fits(model, calibration);
  const auto weight = [&](ParameterId id) { return fits.weight(id); };
  const ModelShape& shape = model.shape;
  Exponents x;
  x.residual = std::min(residual_exponent(model, fits), finest_residual(widths.norm_shift));
  x.embedding = std::clamp(weight(embedding), x.residual, x.residual + 16);
  x.u1 = fits.activation("u1");
  x.u2 = fits.activation("u2");
  x.uf = fits.activation("uf", FittingExponents::largest, widths.final_bits);
  fit_scores(model, fits, x);
  x.v = std::min({fits.activation("v"), fits.activation("y"), weight(wv) + x.u1 - 1});
  x.wv = std::min(weight(wv), 16 + x.v - x.u1);
  x.wo = std::min(weight(wo), 16 + x.residual - x.v);
  if (shape.qkv_bias) {
    x.bq = std::min(weight(bq), x.wq + x.u1);
    x.bk = std::min(weight(bk), x.wk + x.u1);
    x.bv = std::min(weight(bv), x.wv + x.u1);
  }
  const auto gate_bits = static_cast<int>(widths.gate_bits);
  x.mlp = std::min(fits.activation("mlp", gate_bits - 1, widths.gate_bits), weight(w_gate) + x.u2 - 1);
  x.w_gate = std::min(weight(w_gate), 16 + x.mlp - x.u2);
  // t gives way to W_down as long as its rounding stays 4 times below what is tolerated, then W_down to t.
  const int ample = std::max(16 + x.residual - weight(w_down), needed_product_exponent(model) + 2);
  x.product = std::min(fits.activation("product", FittingExponents::largest, widths.product_bits), ample);
  // |ACT| is at most the gate; it gives way to w_up, both to t
  const int most = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most_activation(shape)))) - gate_bits;
  x.gelu = std::min({fine_activation, most + x.mlp, std::max(x.mlp, 32 + x.product - weight(w_up) - x.u2)});
  x.product = std::min(x.product, x.gelu + weight(w_up) + x.u2 - 1);
  x.w_up = std::min(weight(w_up), 32 + x.product - x.gelu - x.u2);
  x.w_down = std::min(weight(w_down), 16 + x.residual - x.product);
  x.gamma1 = std::min(weight(gamma1), 32 - Exponents::normalized(widths) + x.u1);
  x.gamma2 = std::min(weight(gamma2), 32 - Exponents::normalized(widths) + x.u2);
  x.gammaf = std::min(weight(gammaf), 32 - Exponents::normalized(widths) + x.uf);
  if (!shape.tied) {
    x.head = weight(head);
  }
  return x;
}

}  // namespace tessera
