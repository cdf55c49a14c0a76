#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/errors.hpp"
#include "float_model/calibration.hpp"
#include "integer_model/exponents.hpp"
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
// Gains are so coarse that a norm's shift stays below this one, the final norm's as well.
constexpr int most_norm_shift = 32;
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
    norms[row] = std::sqrt(squares) * std::abs(model.factors[id]);
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
           (!model.shape.tied || normalized_exponent(widths) + final_shift <= most_norm_shift);
  };
  Widths widths{.norm_shift = static_cast<std::uint32_t>(limit.most)};
  while (widths.norm_shift > limit.least && !fitting(widths)) {
    --widths.norm_shift;
  }
  return widths.norm_shift;
}

/// Exponents of queries, keys and scores, and of what they are made from.
void fit_scores(const FloatModel& model, const FittingExponents& fits, StepFit& steps, Exponents& x) {
  const ModelShape& shape = model.shape;
  // Outputs give way where even the finest weights would make a shift below 1; weights where it would be too wide.
  const auto head_norm_input = [&](const char* kind, ParameterId w, HeadNormOf of) {
    int a = std::min(fits.activation(kind), steps.finest_result(w));
    while (head_epsilon(shape, of, model.layer_norm_epsilon, a) > max_epsilon) {
      --a;
    }
    return a;
  };
  if (shape.head_norm) {
    x[scales::hq] = head_norm_input("hq", wq, HeadNormOf::queries);
    x[scales::hk] = head_norm_input("hk", wk, HeadNormOf::keys);
  }
  x[scales::q] = std::min(fits.activation("q"), steps.finest_result(shape.head_norm ? gamma_q : wq));
  x[scales::k] = std::min(fits.activation("k"), steps.finest_result(shape.head_norm ? gamma_k : wk));
  fit_score_exponents(model, fits, x);
  steps.fit_weight(wq);
  steps.fit_weight(wk);
  if (shape.head_norm) {
    steps.fit_weight(gamma_q);
    steps.fit_weight(gamma_k);
  }
  if (shape.qkv_bias) {
    steps.fit_bias(bq);
    steps.fit_bias(bk);
  }
}

/// Exponents of the norms over features: of gains so that shifts fit, of what they read and make.
void fit_norms(const FloatModel& model, const Widths& widths, StepFit& steps, Exponents& x) {
  const ModelShape& shape = model.shape;
  const auto fit = [&](ParameterId gamma, ParameterId beta) {
    steps.fit_weight(gamma, most_norm_shift);
    if (!shape.rms()) {
      steps.fit_bias(beta);
      const auto most_left_shift = static_cast<int>(limit_of("left shift").most);
      x[gamma] = std::min(x[gamma], most_left_shift - normalized_exponent(widths) + x[beta]);
    }
  };
  if (shape.norm_before()) {
    fit(gamma1, beta1);
  }
  if (shape.second_norm()) {
    fit(gamma2, beta2);
  }
  fit(gammaf, betaf);
}

/// A branch's last matrix, and what it makes: an exponent of its own before a norm, that of the stream else.
struct BranchFit {
  const char* kind;
  ParameterId weight, gamma;
  ScaleId output;
};

void fit_branch(const FloatModel& model, const FittingExponents& fits, const Widths& widths, const BranchFit& branch,
                StepFit& steps, Exponents& x) {
  if (model.shape.norm_after()) {
    std::int32_t& output = x[branch.output];
    output = std::min(fits.activation(branch.kind, FittingExponents::largest, widths.branch_bits),
                      steps.finest_result(branch.weight));
    while (branch_epsilon(model.shape, model.layer_norm_epsilon, output) > max_epsilon) {
      --output;
    }
    steps.fit_weight(branch.gamma);
  }
  steps.fit_weight(branch.weight);
}

void fit_gated_mlp(const FloatModel& model, const FittingExponents& fits, const Widths& widths, StepFit& steps,
                   Exponents& x) {
  const auto weight = [&](ParameterId id) { return fits.weight(id); };
  const ModelShape& shape = model.shape;
  const auto gate_bits = static_cast<int>(widths.gate_bits);
  x[scales::mlp] = std::min(fits.activation("mlp", gate_bits - 1, widths.gate_bits), steps.finest_result(w_gate));
  steps.fit_weight(w_gate);
  const int finest = fits.activation("product", FittingExponents::largest, widths.product_bits);
  const auto most_shift = static_cast<int>(limit_of("shift").most);
  if (shape.norm_after()) {
    // t gives way to W_down where the sum of both would be finer than what they make may be
    const int output = fits.activation("hm", FittingExponents::largest, widths.branch_bits);
    x[scales::product] = std::min(finest, most_shift + output - weight(w_down));
  } else {
    // t gives way to W_down as long as its rounding stays 4 times below what is tolerated, then W_down to t.
    const int ample = std::max(most_shift + x[scales::residual] - weight(w_down), needed_product_exponent(model) + 2);
    x[scales::product] = std::min(finest, ample);
  }
  // |ACT| is at most the gate; it gives way to w_up, both to t
  const int most =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most_activation(shape, widths)))) - gate_bits;
  const auto most_of_product = static_cast<int>(limit_of("shift of a product").most);
  x[scales::gelu] =
      std::min({fine_activation, most + x[scales::mlp],
                std::max(x[scales::mlp], most_of_product + x[scales::product] - weight(w_up) - x[scales::u2])});
  x[scales::product] = std::min(x[scales::product], steps.finest_result(w_up));
  steps.fit_weight(w_up);
  fit_branch(model, fits, widths, {"hm", w_down, gamma_m, scales::hm}, steps, x);
}

void fit_plain_mlp(const FloatModel& model, const FittingExponents& fits, const Widths& widths, StepFit& steps,
                   Exponents& x) {
  x[scales::mlp] = std::min(fits.activation("mlp", max_mlp_exponent), steps.finest_result(w1));
  x[scales::gelu] = std::min(fits.activation("gelu"), x[scales::mlp]);
  steps.fit_weight(w1);
  fit_branch(model, fits, widths, {"hm", w2, gamma_m, scales::hm}, steps, x);
  if (model.shape.layers.bias) {
    steps.fit_bias(b1);
    steps.fit_bias(b2);
  }
}

}  // namespace

std::uint32_t choose_product_bits(const FloatModel& model, const Calibration& calibration) {
  const FittingExponents fits(model, calibration);
  // A norm behind the branch makes as much of small values as of large ones: calibration's maxima do not say how fine
  // they must be.
  const bool narrow = !model.shape.norm_after() && fits.activation("product") >= needed_product_exponent(model);
  return narrow ? 16 : static_cast<std::uint32_t>(limit_of("product_bits").most);
}

Widths choose_widths(const FloatModel& model, const Calibration& calibration, std::uint32_t product_bits) {
  const FittingExponents fits(model, calibration);
  Widths widths;
  if (model.shape.gated()) {
    widths.product_bits = product_bits;
    widths.gate_bits = fits.activation("mlp") < fine_gate ? 18 : 16;
  }
  if (model.shape.norm_after()) {
    widths.branch_bits = 24;
  }
  if (!model.shape.norm_before()) {
    widths.stream_bits = static_cast<std::uint32_t>(limit_of("stream_bits").most);
  }
  widths.final_bits = final_divergence(model, fits.activation("uf")) > fine_logits ? 24 : 16;
  int residual = residual_exponent(model, fits);
  do {
    widths.norm_shift = norm_shift(model, fits, residual, widths.final_bits);
  } while (residual-- > finest_residual(widths.norm_shift));
  return widths;
}

Exponents rotary_exponents(const FloatModel& model, const Calibration& calibration, const Widths& widths) {
  const FittingExponents fits(model, calibration);
  const ModelShape& shape = model.shape;
  Exponents x;
  StepFit steps(model, fits, widths, x);
  x[scales::residual] = std::min(residual_exponent(model, fits), finest_residual(widths.norm_shift));
  x[embedding] = std::clamp(fits.weight(embedding), x[scales::residual], x[scales::residual] + 16);
  if (shape.norm_before()) {
    x[scales::u1] = fits.activation("u1");
    x[scales::u2] = shape.second_norm() ? fits.activation("u2") : 0;
  } else {
    x[scales::u1] = x[scales::u2] =
        std::min(fits.activation("residual", FittingExponents::largest, widths.stream_bits), x[scales::residual] - 1);
  }
  complete(shape, x);
  x[scales::uf] = fits.activation("uf", FittingExponents::largest, widths.final_bits);
  fit_scores(model, fits, steps, x);
  x[scales::v] = std::min({fits.activation("v"), fits.activation("y"), steps.finest_result(wv)});
  steps.fit_weight(wv);
  if (shape.qkv_bias) {
    steps.fit_bias(bv);
  }
  fit_branch(model, fits, widths, {"ho", wo, gamma_o, scales::ho}, steps, x);
  if (shape.layers.bias) {
    steps.fit_bias(bo);
  }
  shape.gated() ? fit_gated_mlp(model, fits, widths, steps, x) : fit_plain_mlp(model, fits, widths, steps, x);
  fit_norms(model, widths, steps, x);
  if (!shape.tied) {
    x[head] = fits.weight(head);
  }
  if (shape.head_bias) {
    steps.fit_bias(head_bias);
  }
  return x;
}

}  // namespace tessera
