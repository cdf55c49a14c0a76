#pragma once

#include <array>
#include <initializer_list>
#include <string>

#include "parameters/ids.hpp"
#include "parameters/shape.hpp"

namespace tessera {

/// Quantization exponents by name: real value = integer * 2^-exponent; one per kind of tensor, the same in all blocks.
/// Parameters are int16, gains of norms behind branches two of them. Left sides of an rshift have the exponent sum of
/// their factors. 0 where nothing else is said; of the residual stream and the embedding 12, which is GPT-2's.
class Exponents {
 public:
  Exponents();
  std::int32_t& operator[](ScaleId scale) { return values_.at(scale); }
  const std::int32_t& operator[](ScaleId scale) const { return values_.at(scale); }
  friend bool operator==(const Exponents&, const Exponents&) = default;

 private:
  std::array<std::int32_t, scales::count> values_{};
};

inline constexpr int rotation_exponent = 14;    // cos and sin
inline constexpr int head_norm_exponent = 24;   // h*I of a norm on q or k: 2^24*sqrt(m)*h/sigma
inline constexpr int norm_after_exponent = 30;  // h*I of a norm behind a branch: 2^30*sqrt(d)*h/sigma
/// (x - mu)*I has exponent 16 + xi whatever that of x is: I = 2^(16+xi)*sqrt(d)/sigma, sigma =
/// 2^residual*sqrt(d)*std.
constexpr int normalized_exponent(const Widths& widths) { return 16 + static_cast<int>(widths.norm_shift); }

struct NamedScale {
  std::string_view name;
  ScaleId id;
};
/// The activations of a model that have an exponent of their own, in the order of the key.
std::vector<NamedScale> activation_scales(const ModelShape& shape);
/// Gives what shares an exponent with another one its value: what the second branch reads where it is what the first
/// one reads.
void complete(const ModelShape& shape, Exponents& exponents);

/// What a product, a norm or a rotation says of its scales: its left side has the sum of its factors' exponents (and a
/// constant), to which a bias may be added, bias*2^b, and rshift(left side, S) has its result's. Shifts, their limits
/// and what import may choose follow.
struct ScaledStep {
  std::vector<ScaleId> factors;  // the first one is the step's own; where two steps share it, the first one counts
  int constant = 0;
  int after_bias = 0;                  // a constant that is none of the bias': of a rotation
  std::optional<ScaleId> result = {};  // none: exact
  std::string name = {};               // of S, in messages
  std::string_view limit = "shift";    // of S
  std::optional<ParameterId> bias = {};
  std::string bias_name = {};  // of b, in messages
  std::string_view bias_limit = "left shift";

  [[nodiscard]] int left(const Exponents& exponents) const;  // the left side's exponent
  /// S and b, of a step that has a result and a bias.
  [[nodiscard]] int shift(const Exponents& exponents) const { return left(exponents) - exponents[result.value()]; }
  [[nodiscard]] int bias_shift(const Exponents& exponents) const {
    return left(exponents) - after_bias - exponents[bias.value()];
  }
};

/// The steps of a model, in the order in which they are checked.
std::vector<ScaledStep> scaled_steps(const ModelShape& shape, const Widths& widths = {});

/// All shifts of a model with these exponents.
class Shifts {
 public:
  Shifts(const ModelShape& shape, const Widths& widths, const Exponents& exponents)
      : steps_(scaled_steps(shape, widths)), exponents_(exponents) {}
  /// S of the step whose own factor is `factor`; b of the step that has this bias. Throw std::logic_error if there is
  /// no such step, std::bad_optional_access if it is exact.
  [[nodiscard]] int of(ScaleId factor) const { return step_of(steps_, factor).shift(exponents_); }
  [[nodiscard]] int of_bias(ParameterId bias) const { return step_with(steps_, bias).bias_shift(exponents_); }
  /// S of the step whose result is `result`, of which there is one.
  [[nodiscard]] int to(ScaleId result) const;

  static const ScaledStep& step_of(const std::vector<ScaledStep>& steps, ScaleId factor);
  static const ScaledStep& step_with(const std::vector<ScaledStep>& steps, ParameterId bias);

 private:
  std::vector<ScaledStep> steps_;
  Exponents exponents_;
};

}  // namespace tessera
