#pragma once

#include <optional>
#include <vector>

#include "integer_model/model.hpp"

namespace tessera {

// The gain of an RMS norm before a branch is a power of two in the integers: its mantissa is multiplied into the
// columns that read the norm's output, where it is rounded once, with the weight. The final norm of a model whose head
// is tied to the embedding keeps its gains.

/// The norm whose gains are folded into the columns of this parameter, if there is one.
std::optional<ParameterId> folded_gain(const ModelShape& shape, ParameterId id);

/// Whether this parameter is a gain whose mantissas go into columns.
bool is_folded_gain(const ModelShape& shape, ParameterId id);

/// A bound that is less than any power of a gain.
inline constexpr int no_least_power = -1000;

/// What a gain is without its mantissa, whose absolute value is from sqrt(1/2) to sqrt(2): a power of two, at least
/// 2^least; 0 of 0. The mantissa is gain/power, with the gain's sign; 1 of 0.
struct SplitGain {
  double power = 0, mantissa = 1;
};
SplitGain split_gain(float gain, int least);

/// Mantissas of the gains (block, feature) of a norm whose smallest power is 2^least.
std::vector<double> gain_mantissas(const FloatModel& model, ParameterId gain, int least);

/// Largest absolute value of each column (block, column) of a matrix, with the mantissas that are folded into it.
std::vector<double> column_maxima(const FloatModel& model, ParameterId id);

}  // namespace tessera
