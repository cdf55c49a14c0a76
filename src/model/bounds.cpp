#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>
#include "plan/limits.hpp"
#include "base/errors.hpp"
#include "model/calibration.hpp"
#include "model/quantization.hpp"

namespace tessera {
namespace {

// Doubles hold these quantities to 53 bits; all limits are powers of two or have slack far above that rounding.
constexpr double side_limit = 0x1p62 + 0x1p33;
constexpr double int16_limit = 0x1p15;
constexpr unsigned sigma_bits = 31;

double pow2(int exponent) { return std::ldexp(1.0, exponent); }

/// Both sides of A + 2^(S-1) = y*2^S + rem, y int16.
void add_shift(std::vector<Bound>& bounds, const std::string& name, double accumulator, int shift, double y_limit) {
  bounds.push_back({name + " accumulator", accumulator + pow2(shift - 1), side_limit});
  bounds.push_back({name + " quotient and remainder", pow2(shift) * (y_limit + 1), side_limit});
}

}  // namespace

std::vector<Bound> derived_bounds(const ModelShape& shape, const IntegerConstants& constants, const Exponents& x,
                                  const ParameterMaxima& maxima) {
  const auto maximum = [&](ParameterId id) { return static_cast<double>(maxima[id]); };
  const auto d = static_cast<double>(shape.n_embd);
  const auto inner = static_cast<double>(shape.n_inner);
  const double residual = pow2(static_cast<int>(constants.residual_bits) - 1);
  // a continuation's filler follows the conversation
  const auto keys = 2 * static_cast<double>(std::bit_ceil(shape.n_positions));
  const auto numerator = static_cast<double>(constants.norm_numerator);
  const auto kappa = static_cast<int>(constants.kappa);
  std::vector<Bound> bounds = {
      {"context n_positions", static_cast<double>(shape.n_positions), max_positions},
      {"embedding + position", maximum(embedding) + maximum(position), residual - 1},
      {"layer norm sum of squares d*x^2", d * residual * residual, 0x1p62},
      {"layer norm mean d*mu + remainder", d * residual + d, side_limit},
      {"layer norm epsilon", static_cast<double>(constants.epsilon), static_cast<double>(max_epsilon)},
      {"layer norm variance V", d * residual * residual + d + static_cast<double>(constants.epsilon), side_limit},
      {"layer norm inverse bits", static_cast<double>(constants.inverse_bits), max_inverse_bits},
      {"layer norm I*sigma + remainder", pow2(static_cast<int>(constants.inverse_bits + sigma_bits)) + pow2(sigma_bits),
       side_limit}};
  const auto norm = [&](const std::string& name, ParameterId gamma, ParameterId beta, int a_gamma, int a_beta, int u) {
    const double accumulator = numerator * maximum(gamma) + maximum(beta) * pow2(x.bias_norm(a_gamma, a_beta));
    add_shift(bounds, name, accumulator, x.shift_norm(a_gamma, u), int16_limit);
  };
  norm("u1", gamma1, beta1, x.gamma1, x.beta1, x.u1);
  norm("u2", gamma2, beta2, x.gamma2, x.beta2, x.u2);
  norm("uf", gammaf, betaf, x.gammaf, x.betaf, x.uf);
  const auto product = [&](const std::string& name, double in, ParameterId weight, ParameterId bias, int bias_shift,
                           int shift, double y_limit) {
    const double products = in * int16_limit * maximum(weight);
    bounds.push_back({name + " product (exact in float64)", products, 0x1p53});
    add_shift(bounds, name, products + maximum(bias) * pow2(bias_shift), shift, y_limit);
  };
  product("q", d, wq, bq, x.bias_q(), x.shift_q(), int16_limit);
  product("k", d, wk, bk, x.bias_k(), x.shift_k(), int16_limit);
  product("v", d, wv, bv, x.bias_v(), x.shift_v(), int16_limit);
  // Updates of the residual are differences of two range-checked values.
  product("attention update", d, wo, bo, x.bias_o(), x.shift_o(), 2 * residual);
  product("mlp", d, w1, b1, x.bias_1(), x.shift_1(), int16_limit);
  product("mlp update", inner, w2, b2, x.bias_2(), x.shift_2(), 2 * residual);
  add_shift(bounds, "scores", static_cast<double>(shape.head_size()) * 0x1p30, x.shift_score(), int16_limit);
  const double row_sum = pow2(kappa + 16) * keys + pow2(kappa - 1);  // D = 2^kappa*A' + T
  bounds.push_back({"soft-max R*D + remainder", pow2(31 - kappa) * row_sum, side_limit});
  bounds.push_back({"soft-max e", pow2(kappa + 15) + 1, 0x1p31});
  add_shift(bounds, "y", 0x1p61, softmax_shift, int16_limit);  // |O| <= 2^15*D and R*D <= 2^46
  bounds.push_back({"logits", d * int16_limit * maximum(embedding), 0x1p47 - 1});
  return bounds;
}

void check_bounds(const ModelShape& shape, const IntegerConstants& constants, const Exponents& exponents,
                  const ParameterMaxima& maxima) {
  check_exponents(exponents);
  for (const Bound& bound : derived_bounds(shape, constants, exponents, maxima)) {
    if (!(bound.value <= bound.limit)) {
      std::ostringstream message;
      message.precision(17);
      message << "derived bound: " << bound.name << ": expected at most " << bound.limit << ", found " << bound.value;
      throw InputError(message.str());
    }
  }
}

}  // namespace tessera
