#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/errors.hpp"
#include "model/calibration.hpp"
#include "model/exponents.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

// Rounding t adds to each channel of the residual stream, in its units, about 2^(12 - a_t)*|row of W_down| a token.
constexpr double tolerated_update_error = 20;

double median_row_norm(const FloatModel& model) {
  const ParameterExtents extents = parameter_row(model.shape, w_down).extents(model.shape);
  const std::span<const float> values = model.parameters[w_down].values();
  std::vector<double> norms(extents.blocks * extents.rows);
  for (std::size_t row = 0; row < norms.size(); ++row) {
    double squares = 0;
    for (const float value : values.subspan(row * extents.columns, extents.columns)) {
      squares += static_cast<double>(value) * value;
    }
    norms[row] = std::sqrt(squares);
  }
  const auto middle = norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 2);
  std::ranges::nth_element(norms, middle);
  return *middle;
}

/// The least exponent of t whose rounding is tolerable.
int needed_product_exponent(const FloatModel& model, int residual) {
  const double norm = median_row_norm(model);
  return norm == 0 ? std::numeric_limits<std::int8_t>::min()
                   : residual + static_cast<int>(std::ceil(std::log2(norm / tolerated_update_error)));
}

/// The largest with which the stream has its margin and embeddings fit int16.
int residual_exponent(const FloatModel& model, const FittingExponents& fits, const Calibration& calibration) {
  const unsigned bits = IntegerConstants::of(model.shape, model.layer_norm_epsilon).residual_bits;
  const int exponent =
      std::min({Exponents{}.residual, fits.activation("residual", Exponents{}.residual, bits), fits.weight(embedding)});
  if (!limit_of("residual").allows(exponent)) {
    std::ostringstream message;
    message << "residual stream: expected values that fit " << bits << " bits with exponent "
            << limit_of("residual").least << " or more, found " << calibration.maxima.at("residual")
            << " while calibrating";
    throw InputError(message.str());
  }
  return exponent;
}

}  // namespace

std::uint32_t choose_product_bits(const FloatModel& model, const Calibration& calibration) {
  const FittingExponents fits(model, calibration);
  const int needed = needed_product_exponent(model, residual_exponent(model, fits, calibration));
  for (const unsigned bits : {16U, 20U}) {
    if (fits.activation("product", FittingExponents::largest, bits) >= needed) {
      return bits;
    }
  }
  return 24;
}

Exponents llama_exponents(const FloatModel& model, const Calibration& calibration, const Widths& widths) {
  const FittingExponents fits(model, calibration);
  const auto weight = [&](ParameterId id) { return fits.weight(id); };
  const ModelShape& shape = model.shape;
  Exponents x;
  x.residual = residual_exponent(model, fits, calibration);
  x.embedding = std::clamp(weight(embedding), x.residual, x.residual + 16);
  x.u1 = fits.activation("u1");
  x.u2 = fits.activation("u2");
  x.uf = fits.activation("uf", FittingExponents::largest, widths.final_bits);
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
  x.v = std::min({fits.activation("v"), fits.activation("y"), weight(wv) + x.u1 - 1});
  x.wv = std::min(weight(wv), 16 + x.v - x.u1);
  x.wo = std::min(weight(wo), 16 + x.residual - x.v);
  if (shape.qkv_bias) {
    x.bq = std::min(weight(bq), x.wq + x.u1);
    x.bk = std::min(weight(bk), x.wk + x.u1);
    x.bv = std::min(weight(bv), x.wv + x.u1);
  }
  x.mlp = std::min(fits.activation("mlp", static_cast<int>(widths.gate_bits) - 1, widths.gate_bits),
                   weight(w_gate) + x.u2 - 1);
  x.gelu = std::min(fits.activation("gelu"), x.mlp);
  x.w_gate = std::min(weight(w_gate), 16 + x.mlp - x.u2);
  // t gives way to W_down as long as its rounding stays 8 times below what is tolerated, then W_down to t.
  const int finest = std::min(fits.activation("product", FittingExponents::largest, widths.product_bits),
                              x.gelu + weight(w_up) + x.u2 - 1);
  x.product =
      std::min(finest, std::max(16 + x.residual - weight(w_down), needed_product_exponent(model, x.residual) + 3));
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
