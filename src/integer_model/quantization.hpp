#pragma once

#include <string>
#include "integer_model/model.hpp"
#include "plan/shape.hpp"
#include <vector>

namespace tessera {

/// Integers floor(x*2^a + 1/2) of all parameters, 1/sqrt(m) folded into wq and bq before. Computed in double by exactly
/// rounded operations only, so the same on any machine. Throws InputError naming tensor, index and bound if one is not
/// int16.
Parameters quantize(const FloatModel& model, const Exponents& exponents);
/// quantize() that takes the model apart: each parameter's float values are given back when it is quantized, so that
/// both never exist at once.
Parameters quantize(FloatModel&& model, const Exponents& exponents);

/// Largest absolute value of each parameter as it is quantized (after folding).
ByParameter<double> parameter_maxima(const FloatModel& model);

/// A quantity that the protocol's argument over the integers relies on, and the most it may be.
struct Bound {
  std::string name;
  double value = 0;
  double limit = 0;
};

/// Largest absolute value of each parameter; on several ranks, of the rows that are kept here.
using ParameterMaxima = ByParameter<std::int64_t>;
ParameterMaxima parameter_maxima(const Parameters& parameters);

/// The integer constants of a model that depend on its exponents or were chosen at import.
struct ModelConstants {
  std::int64_t epsilon_q = 1, epsilon_k = 1;  // eps' of norms on queries and keys
  std::int64_t epsilon_o = 1, epsilon_m = 1;  // eps' of norms behind branches
  Widths widths;
  double logit_row = 0;  // largest sum of absolute values of a row of the logits' matrix; 0: not known
  double score_cap = 0;  // what capped scores stay below
  static ModelConstants of(const ModelShape& shape, double epsilon, const Exponents& exponents, const Widths& widths);
};

/// All derived bounds of a quantized model: what either side of an identity can reach for values inside their
/// range-checked widths and these parameters. The limit of a side is 2^62 + 2^33.
std::vector<Bound> derived_bounds(const ModelShape& shape, const IntegerConstants& constants,
                                  const Exponents& exponents, const ParameterMaxima& maxima,
                                  const ModelConstants& chosen = {});

/// Throws InputError naming the first quantity beyond its limit, its value and the limit; also checks the exponents.
void check_bounds(const ModelShape& shape, const IntegerConstants& constants, const Exponents& exponents,
                  const ParameterMaxima& maxima, const ModelConstants& chosen = {});
/// Checks the bounds of a whole model, whose parameters have these maxima; of several ranks each looks at the rows of
/// logits that it keeps. Throws InputError naming the first quantity beyond its limit, its value and the limit.
void check_bounds(const Model& model, const ParameterMaxima& maxima);

}  // namespace tessera
