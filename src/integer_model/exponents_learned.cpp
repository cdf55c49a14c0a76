#include <algorithm>

#include "integer_model/exponents.hpp"
#include "plan/limits.hpp"

namespace tessera {

Exponents learned_exponents(const FloatModel& model, const Calibration& calibration) {
  const FittingExponents fits(model, calibration);
  Exponents x;
  StepFit steps(model, fits, {}, x);
  x[scales::u1] = fits.activation("u1");
  x[scales::u2] = fits.activation("u2");
  x[scales::uf] = fits.activation("uf");
  x[scales::q] = std::min(fits.activation("q"), steps.finest_result(wq));
  x[scales::k] = std::min(fits.activation("k"), steps.finest_result(wk));
  x[scales::v] = std::min({fits.activation("v"), fits.activation("y"), steps.finest_result(wv)});
  x[scales::mlp] = std::min(fits.activation("mlp", max_mlp_exponent), steps.finest_result(w1));
  x[scales::gelu] = std::min(fits.activation("gelu"), x[scales::mlp]);
  fit_score_exponents(model, fits, x);
  for (const ParameterId weight : {wq, wk, wv, wo, w1, w2, gamma1, gamma2, gammaf}) {
    steps.fit_weight(weight);
  }
  for (const ParameterId bias : {bq, bk, bv, bo, b1, b2, beta1, beta2, betaf}) {
    steps.fit_bias(bias);
  }
  return x;
}

}  // namespace tessera
