#include "integer_model/gains.hpp"

#include <algorithm>
#include <cmath>

namespace tessera {

std::optional<ParameterId> folded_gain(const ModelShape& shape, ParameterId id) {
  if (!shape.rms()) {
    return std::nullopt;
  }
  switch (id) {
    case wq:
    case wk:
    case wv:
      return shape.norm_before() ? std::optional(gamma1) : std::nullopt;
    case w1:
    case w_gate:
    case w_up:
      return shape.second_norm() ? std::optional(gamma2) : std::nullopt;
    case head:
      return gammaf;
    default:
      return std::nullopt;
  }
}

bool is_folded_gain(const ModelShape& shape, ParameterId id) {
  return shape.rms() && (id == gamma1 || id == gamma2 || (id == gammaf && !shape.tied));
}

SplitGain split_gain(float gain, int least) {
  if (gain == 0) {
    return {};
  }
  int exponent = 0;
  const double fraction = std::frexp(std::abs(static_cast<double>(gain)), &exponent);
  const int power = std::max(fraction < std::sqrt(0.5) ? exponent - 1 : exponent, least);
  return {std::ldexp(1.0, power), std::ldexp(static_cast<double>(gain), -power)};
}

std::vector<double> gain_mantissas(const FloatModel& model, ParameterId gain, int least) {
  const std::span<const float> gains = model.parameters[gain].values();
  std::vector<double> mantissas(gains.size());
  std::ranges::transform(gains, mantissas.begin(), [least](float value) { return split_gain(value, least).mantissa; });
  return mantissas;
}

std::vector<double> column_maxima(const FloatModel& model, ParameterId id) {
  const ParameterExtents extents = parameter_row(model.shape, id).extents(model.shape);
  const std::span<const float> values = model.parameters[id].values();
  const std::size_t columns = extents.columns;
  std::vector<double> maxima(extents.blocks * columns);
#pragma omp parallel for schedule(dynamic)
  for (std::size_t block = 0; block < extents.blocks; ++block) {
    std::vector<float> largest(columns);
    for (std::size_t row = block * extents.rows; row < (block + 1) * extents.rows; ++row) {
      const float* const of_row = values.data() + row * columns;
#pragma omp simd
      for (std::size_t column = 0; column < columns; ++column) {
        largest[column] = std::max(largest[column], std::abs(of_row[column]));
      }
    }
    std::ranges::copy(largest, maxima.begin() + static_cast<std::ptrdiff_t>(block * columns));
  }
  if (const auto gain = folded_gain(model.shape, id)) {
    const std::vector<double> mantissas = gain_mantissas(model, *gain, no_least_power);
    for (std::size_t i = 0; i < maxima.size(); ++i) {
      maxima[i] *= std::abs(mantissas[i]);
    }
  }
  return maxima;
}

}  // namespace tessera
