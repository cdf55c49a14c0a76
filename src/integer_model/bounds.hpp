#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "integer_model/quantization.hpp"

namespace tessera {

/// A list of bounds in the making, and the parts that architectures share. Doubles hold these quantities to 53 bits;
/// all limits are powers of two or have slack far above that rounding.
class BoundList {
 public:
  static constexpr double side_limit = 0x1p62 + 0x1p33;
  static constexpr double int16_limit = 0x1p15;
  static constexpr unsigned sigma_bits = 31;
  static double pow2(int exponent) { return std::ldexp(1.0, exponent); }

  BoundList(const ModelShape& shape, const IntegerConstants& constants, const Exponents& exponents,
            const Widths& widths, const ParameterMaxima& maxima)
      : shape_(shape), constants_(constants), shifts_(shape, widths, exponents), maxima_(maxima) {}

  [[nodiscard]] double maximum(ParameterId id) const { return static_cast<double>(maxima_[id]); }
  [[nodiscard]] const Shifts& shifts() const { return shifts_; }
  /// What |x| stays below in the residual stream.
  [[nodiscard]] double residual() const { return pow2(static_cast<int>(constants_.residual_bits) - 1); }

  void add(const std::string& name, double value, double limit) { bounds_.push_back({name, value, limit}); }
  /// Both sides of A + 2^(S-1) = y*2^S + rem, |y| <= y_limit.
  void shift(const std::string& name, double accumulator, int shift, double y_limit);
  /// Sums of inputs below `input` times weights, plus a bias, before an rshift: their largest value.
  double product(const std::string& name, std::size_t inputs, double input, ParameterId weight, double bias = 0);
  void context();
  /// What the norms over features share: sums of squares, eps', variance, inverse.
  void norms(const std::string& name, double mean);
  void scores();
  void softmax();
  /// Between sigma and I of a norm with this eps', over values of squares below `square`.
  void root(const std::string& name, double squares, std::int64_t epsilon, unsigned inverse_bits);
  /// u_f of `bits` bits; `row`: the largest sum of absolute values of a row, 0 if it is not known.
  void logits(ParameterId weight, unsigned bits = 16, double row = 0, double bias = 0);
  std::vector<Bound> take() { return std::move(bounds_); }

 private:
  const ModelShape& shape_;
  const IntegerConstants& constants_;
  Shifts shifts_;
  const ParameterMaxima& maxima_;
  std::vector<Bound> bounds_;
};

}  // namespace tessera
