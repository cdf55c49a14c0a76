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
  const auto head_norm_input = [&](const char* kind, ParameterId w, HeadNormOf of) {
    int a = std::min(fits.activation(kind), weight(w) + x.u1 - 1);
    while (head_epsilon(shape, of, model.layer_norm_epsilon, a) > max_epsilon) {
      --a;
    }
    return a;
  };
  if (shape.head_norm) {
    constexpr int normed = Exponents::head_norm + Exponents::rotary;
    x.hq = head_norm_input("hq", wq, HeadNormOf::queries);
    x.hk = head_norm_input("hk", wk, HeadNormOf::keys);
    x.q = std::min(fits.activation("q"), normed + weight(gamma_q) - 1);
    x.k = std::min(fits.activation("k"), normed + weight(gamma_k) - 1);
  } else {
    x.q = std::min(fits.activation("q"), weight(wq) + x.u1 + Exponents::rotary - 1);
    x.k = std::min(fits.activation("k"), weight(wk) + x.u1 + Exponents::rotary - 1);
  }
  fit_score_exponents(model, fits, x);
  if (shape.head_norm) {
    x.wq = std::min(weight(wq), 16 + x.hq - x.u1);
    x.wk = std::min(weight(wk), 16 + x.hk - x.u1);
    x.gamma_q = std::min(weight(gamma_q), 40 - Exponents::head_norm - Exponents::rotary + x.q);
    x.gamma_k = std::min(weight(gamma_k), 40 - Exponents::head_norm - Exponents::rotary + x.k);
  } else {
    x.wq = std::min(weight(wq), 32 - Exponents::rotary + x.q - x.u1);
    x.wk = std::min(weight(wk), 32 - Exponents::rotary + x.k - x.u1);
  }
  if (shape.qkv_bias) {
    x.bq = std::min(weight(bq), x.wq + x.u1);
    x.bk = std::min(weight(bk), x.wk + x.u1);
  }
}

/// Exponents of the norms over features: of gains so that shifts fit, of what they read and make.
void fit_norms(const FloatModel& model, const FittingExponents& fits, const Widths& widths, Exponents& x) {
  const ModelShape& shape = model.shape;
  const int normalized = Exponents::normalized(widths);
  const auto fit = [&](ParameterId gamma, ParameterId beta, int u, std::int32_t& a_gamma, std::int32_t& a_beta) {
    a_gamma = std::min(fits.weight(gamma), 32 - normalized + u);
    if (!shape.rms()) {
      constexpr int most_left_shift = 46;
      a_beta = std::min(fits.weight(beta), normalized + a_gamma);
      a_gamma = std::min(a_gamma, most_left_shift - normalized + a_beta);
    }
  };
  if (shape.norm_before()) {
    fit(gamma1, beta1, x.u1, x.gamma1, x.beta1);
  }
  if (shape.second_norm()) {
    fit(gamma2, beta2, x.u2, x.gamma2, x.beta2);
  }
  fit(gammaf, betaf, x.uf, x.gammaf, x.betaf);
}

/// What a branch's last matrix makes: an exponent of its own before a norm, that of the stream else.
struct BranchFit {
  const char* kind;
  ParameterId weight, gamma;
  int input;  // exponent
};

/// Returns the exponent of the branch's last matrix.
int fit_branch(const FloatModel& model, const FittingExponents& fits, const Widths& widths, const BranchFit& branch,
               std::int32_t& output, std::int32_t& a_gamma, int residual) {
  const int weight = fits.weight(branch.weight);
  if (!model.shape.norm_after()) {
    return std::min(weight, 16 + residual - branch.input);
  }
  output =
      std::min(fits.activation(branch.kind, FittingExponents::largest, widths.branch_bits), weight + branch.input - 1);
  while (branch_epsilon(model.shape, model.layer_norm_epsilon, output) > max_epsilon) {
    --output;
  }
  a_gamma = std::min(fits.weight(branch.gamma), most_shift_after - Exponents::norm_after + residual);
  return std::min(weight, 16 + output - branch.input);
}

void fit_gated_mlp(const FloatModel& model, const FittingExponents& fits, const Widths& widths, Exponents& x) {
  const auto weight = [&](ParameterId id) { return fits.weight(id); };
  const ModelShape& shape = model.shape;
  const auto gate_bits = static_cast<int>(widths.gate_bits);
  x.mlp = std::min(fits.activation("mlp", gate_bits - 1, widths.gate_bits), weight(w_gate) + x.u2 - 1);
  x.w_gate = std::min(weight(w_gate), 16 + x.mlp - x.u2);
  const int finest = fits.activation("product", FittingExponents::largest, widths.product_bits);
  if (shape.norm_after()) {
    // t gives way to W_down where the sum of both would be finer than what they make may be
    const int output = fits.activation("hm", FittingExponents::largest, widths.branch_bits);
    x.product = std::min(finest, 16 + output - weight(w_down));
  } else {
    // t gives way to W_down as long as its rounding stays 4 times below what is tolerated, then W_down to t.
    const int ample = std::max(16 + x.residual - weight(w_down), needed_product_exponent(model) + 2);
    x.product = std::min(finest, ample);
  }
  // |ACT| is at most the gate; it gives way to w_up, both to t
  const int most =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most_activation(shape, widths)))) - gate_bits;
  x.gelu = std::min({fine_activation, most + x.mlp, std::max(x.mlp, 32 + x.product - weight(w_up) - x.u2)});
  x.product = std::min(x.product, x.gelu + weight(w_up) + x.u2 - 1);
  x.w_up = std::min(weight(w_up), 32 + x.product - x.gelu - x.u2);
  x.w_down = fit_branch(model, fits, widths, {"hm", w_down, gamma_m, x.product}, x.hm, x.gamma_m, x.residual);
}

void fit_plain_mlp(const FloatModel& model, const FittingExponents& fits, const Widths& widths, Exponents& x) {
  const auto weight = [&](ParameterId id) { return fits.weight(id); };
  x.mlp = std::min(fits.activation("mlp", max_mlp_exponent), weight(w1) + x.u2 - 1);
  x.gelu = std::min(fits.activation("gelu"), x.mlp);
  x.w1 = std::min(weight(w1), 16 + x.mlp - x.u2);
  x.w2 = fit_branch(model, fits, widths, {"hm", w2, gamma_m, x.gelu}, x.hm, x.gamma_m, x.residual);
  if (model.shape.layers.bias) {
    x.b1 = std::min(weight(b1), x.w1 + x.u2);
    x.b2 = std::min(weight(b2), x.w2 + x.gelu);
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
  const auto weight = [&](ParameterId id) { return fits.weight(id); };
  const ModelShape& shape = model.shape;
  Exponents x;
  x.residual = std::min(residual_exponent(model, fits), finest_residual(widths.norm_shift));
  x.embedding = std::clamp(weight(embedding), x.residual, x.residual + 16);
  if (shape.norm_before()) {
    x.u1 = fits.activation("u1");
    x.u2 = shape.second_norm() ? fits.activation("u2") : 0;
  } else {
    x.u1 = x.u2 = std::min(fits.activation("residual", FittingExponents::largest, widths.stream_bits), x.residual - 1);
  }
  complete(shape, x);
  x.uf = fits.activation("uf", FittingExponents::largest, widths.final_bits);
  fit_scores(model, fits, x);
  x.v = std::min({fits.activation("v"), fits.activation("y"), weight(wv) + x.u1 - 1});
  x.wv = std::min(weight(wv), 16 + x.v - x.u1);
  if (shape.qkv_bias) {
    x.bv = std::min(weight(bv), x.wv + x.u1);
  }
  x.wo = fit_branch(model, fits, widths, {"ho", wo, gamma_o, x.v}, x.ho, x.gamma_o, x.residual);
  if (shape.layers.bias) {
    x.bo = std::min(weight(bo), x.wo + x.v);
  }
  shape.gated() ? fit_gated_mlp(model, fits, widths, x) : fit_plain_mlp(model, fits, widths, x);
  fit_norms(model, fits, widths, x);
  if (!shape.tied) {
    x.head = weight(head);
  }
  if (shape.head_bias) {
    x.head_bias = std::min(weight(head_bias), x.uf + x.head);
  }
  return x;
}

}  // namespace tessera
