#include <algorithm>
#include <cmath>
#include <sstream>
#include "base/errors.hpp"
#include "model/quantization.hpp"

namespace tessera {
namespace {

void quantize_parameter(const ParameterRow& row, std::span<const float> values, double divisor, int exponent,
                        std::span<std::int16_t> integers) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(values[i]) / divisor;
    const double rounded = std::floor(std::ldexp(value, exponent) + 0.5);
    if (!(rounded >= -32768.0 && rounded <= 32767.0)) {
      std::ostringstream message;
      message << "parameter " << row.name << "[" << i << "]: expected an absolute value up to "
              << std::ldexp(32767.0, -exponent) << " (int16 with exponent " << exponent << "), found " << value;
      throw InputError(message.str());
    }
    integers[i] = static_cast<std::int16_t>(rounded);
  }
}

}  // namespace

ByParameter<double> parameter_maxima(const FloatModel& model) {
  ByParameter<double> maxima{};
  for (const ParameterRow& row : parameter_table()) {
    for (const float value : model.parameters[row.id].values()) {
      maxima[row.id] = std::max(maxima[row.id], std::abs(static_cast<double>(value)));
    }
    maxima[row.id] /= row.divisor(model.shape);
  }
  return maxima;
}

Parameters quantize(const FloatModel& model, const Exponents& exponents) {
  Parameters parameters(model.shape);
  for (const ParameterRow& row : parameter_table()) {
    quantize_parameter(row, model.parameters[row.id].values(), row.divisor(model.shape), exponents.*row.exponent,
                       parameters[row.id].values());
  }
  return parameters;
}

}  // namespace tessera
