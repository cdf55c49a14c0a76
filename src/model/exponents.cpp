#include "model/exponents.hpp"

#include <algorithm>
#include <cmath>

#include "model/calibration.hpp"
#include "plan/limits.hpp"

namespace tessera {

int fitting_exponent(double maximum, int cap, unsigned bits) {
  if (maximum == 0) {
    return cap;
  }
  int exponent = 0;
  std::frexp(maximum, &exponent);  // maximum = f*2^exponent, 1/2 <= f < 1
  const int a = static_cast<int>(bits) - 1 - exponent;
  const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1) - 1;
  return std::min(cap, std::ldexp(maximum, a) <= limit ? a : a - 1);
}

void fit_score_shift(Exponents& x) {
  while (x.shift_score() > 16) {
    --(x.q >= x.k ? x.q : x.k);
  }
  x.score = std::min(x.score, x.q + x.k - 1);
}

Exponents choose_exponents(const FloatModel& model, const Calibration& calibration, const Widths& widths) {
  const Exponents exponents =
      model.shape.gpt2() ? gpt2_exponents(model, calibration) : llama_exponents(model, calibration, widths);
  check_exponents(model.shape, exponents, widths);
  return exponents;
}

}  // namespace tessera
