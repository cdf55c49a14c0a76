#include <algorithm>

#include "integer_model/exponents.hpp"
#include "plan/limits.hpp"

namespace tessera {

Exponents learned_exponents(const FloatModel& model, const Calibration& calibration) {
  const FittingExponents fits(model, calibration);
  const auto weight = [&](ParameterId id) { return fits.weight(id); };
  Exponents x;
  x.u1 = fits.activation("u1");
  x.u2 = fits.activation("u2");
  x.uf = fits.activation("uf");
  // Outputs give way where even the finest weights would make a shift below 1.
  x.q = std::min(fits.activation("q"), weight(wq) + x.u1 - 1);
  x.k = std::min(fits.activation("k"), weight(wk) + x.u1 - 1);
  x.v = std::min({fits.activation("v"), fits.activation("y"), weight(wv) + x.u1 - 1});
  x.mlp = std::min(fits.activation("mlp", max_mlp_exponent), weight(w1) + x.u2 - 1);
  x.gelu = std::min(fits.activation("gelu"), x.mlp);
  fit_score_exponents(model, fits, x);
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
    a_gamma = std::min(weight(gamma), 32 - Exponents::normalized({}) + u);
    a_beta = std::min(weight(beta), Exponents::normalized({}) + a_gamma);
  };
  norm(gamma1, beta1, x.u1, x.gamma1, x.beta1);
  norm(gamma2, beta2, x.u2, x.gamma2, x.beta2);
  norm(gammaf, betaf, x.uf, x.gammaf, x.betaf);
  return x;
}

}  // namespace tessera
