#include "integer_model/exponents.hpp"

#include <algorithm>
#include <cmath>

#include "float_model/calibration.hpp"
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

FittingExponents::FittingExponents(const FloatModel& model, const Calibration& calibration)
    : calibration_(calibration), weights_(parameter_maxima(model)) {
  // |x - mean| <= sqrt(d)*std and |h| <= sqrt(m)*rms; room for the rounding of gains and inverses
  constexpr double slack = 1 + 0x1p-9;
  const ModelShape& shape = model.shape;
  const double feature = slack * std::sqrt(static_cast<double>(shape.n_embd));
  bounds_["u1"] = feature * weights_[gamma1] + weights_[beta1];
  bounds_["u2"] = feature * weights_[gamma2] + weights_[beta2];
  bounds_["uf"] = feature * weights_[gammaf] + weights_[betaf];
  if (shape.score_cap) {
    bounds_["score"] = model.caps.scores;
  }
  if (shape.head_norm) {
    // rotations keep the length of pairs
    const auto place = [&](HeadNormOf of) {
      return slack * std::sqrt(static_cast<double>(head_norm_features(shape, of)));
    };
    bounds_["q"] = place(HeadNormOf::queries) * weights_[gamma_q];
    bounds_["k"] = place(HeadNormOf::keys) * weights_[gamma_k];
  }
}

double FittingExponents::range(const std::string& kind) const {
  // The largest values of the stream are one channel's of the first token, which sees itself alone: they are known
  // best.
  const double margin = kind == "residual" ? 1 + (calibration_.margin - 1) / 4 : calibration_.margin;
  const double seen = calibration_.maxima.at(kind) * margin;
  const auto bound = bounds_.find(kind);
  return bound == bounds_.end() ? seen : std::min(seen, bound->second);
}

int StepFit::finest_result(ParameterId weight) const {
  const ScaledStep& step = Shifts::step_of(steps_, weight);
  const auto least = static_cast<int>(limit_of(step.limit).least);
  return step.left(exponents_) - exponents_[weight] + fits_.weight(weight) - least;
}

void StepFit::fit_weight(ParameterId weight, std::optional<int> most) {
  const ScaledStep& step = Shifts::step_of(steps_, weight);
  const int others = step.left(exponents_) - exponents_[weight];
  const int largest = most.value_or(static_cast<int>(limit_of(step.limit).most));
  exponents_[weight] = std::min(fits_.weight(weight), largest + exponents_[*step.result] - others);
}

void StepFit::fit_bias(ParameterId bias) {
  const ScaledStep& step = Shifts::step_with(steps_, bias);
  exponents_[bias] = std::min(fits_.weight(bias), step.left(exponents_) - step.after_bias);
}

void fit_score_exponents(const FloatModel& model, const FittingExponents& fits, Exponents& x) {
  const bool capped = model.shape.score_cap;
  x[scales::score] = fits.activation("score", max_score_exponent);
  if (capped) {
    x[scales::score] =
        std::min(x[scales::score], fitting_exponent(model.caps.scores, max_score_exponent, capped_score_bits));
    x[scales::uncapped] = fits.activation("uncapped", static_cast<int>(limit_of("uncapped").most));
  }
  const ScaledStep scores = Shifts::step_of(scaled_steps(model.shape), scales::q);
  while (scores.shift(x) > limit_of(scores.limit).most) {
    --(x[scales::q] >= x[scales::k] ? x[scales::q] : x[scales::k]);
  }
  std::int32_t& rounded = capped ? x[scales::uncapped] : x[scales::score];
  rounded = std::min(rounded, x[scales::q] + x[scales::k] - 1);
}

Exponents choose_exponents(const FloatModel& model, const Calibration& calibration, const Widths& widths) {
  const Exponents exponents =
      model.shape.rotary() ? rotary_exponents(model, calibration, widths) : learned_exponents(model, calibration);
  check_exponents(model.shape, exponents, widths);
  return exponents;
}

}  // namespace tessera
