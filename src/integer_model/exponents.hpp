#pragma once

#include <map>
#include <string>

#include "integer_model/quantization.hpp"

namespace tessera {

/// Largest a <= cap with maximum*2^a <= 2^(bits-1) - 1.
int fitting_exponent(double maximum, int cap, unsigned bits = 16);

/// Exponents that the largest values of a model allow: of activations those of calibration, times its margin, or what
/// they stay below for every input, if that is less.
class FittingExponents {
 public:
  static constexpr int largest = 24;  // of values that are tiny or zero
  FittingExponents(const FloatModel& model, const Calibration& calibration);

  /// What an activation of this kind is taken to stay below.
  [[nodiscard]] double range(const std::string& kind) const;
  [[nodiscard]] int activation(const std::string& kind, int cap = largest, unsigned bits = 16) const {
    return fitting_exponent(range(kind), cap, bits);
  }
  [[nodiscard]] int weight(ParameterId id) const {
    const int low_bits = low_piece(id) ? gain_piece_bits : 0;
    return fitting_exponent(weights_[id], largest - low_bits) + low_bits;
  }

 private:
  const Calibration& calibration_;
  ByParameter<double> weights_;
  std::map<std::string, double> bounds_;  // of kinds that have one
};

/// What a model's steps leave to choose: shifts stay within their limits.
class StepFit {
 public:
  StepFit(const FloatModel& model, const FittingExponents& fits, const Widths& widths, Exponents& exponents)
      : fits_(fits), steps_(scaled_steps(model.shape, widths)), exponents_(exponents) {}

  /// The finest exponent of a step's result: beyond it even the finest `weight`, the step's own factor, would make the
  /// shift too small.
  [[nodiscard]] int finest_result(ParameterId weight) const;
  /// A weight gives way where the shift would be above `most`, or above its limit.
  void fit_weight(ParameterId weight, std::optional<int> most = {});
  /// A bias is no finer than what it is added to.
  void fit_bias(ParameterId bias);

 private:
  const FittingExponents& fits_;
  std::vector<ScaledStep> steps_;
  Exponents& exponents_;
};

/// Chooses that of the scores, before and after their cap if they have one, and lowers it and those of q and k until
/// the scores' shift is 1 to 16.
void fit_score_exponents(const FloatModel& model, const FittingExponents& fits, Exponents& exponents);

/// Exponents of models with learned positions, and of those with rotary ones.
Exponents learned_exponents(const FloatModel& model, const Calibration& calibration);
Exponents rotary_exponents(const FloatModel& model, const Calibration& calibration, const Widths& widths);

}  // namespace tessera
