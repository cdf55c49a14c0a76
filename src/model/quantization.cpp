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

template <class Wide, class T>
ByParameter<Wide> largest(const BasicParameters<T>& parameters) {
  ByParameter<Wide> maxima{};
  for (std::size_t id = 0; id < parameter_count; ++id) {
    for (const T value : parameters[static_cast<ParameterId>(id)].values()) {
      maxima[id] = std::max(maxima[id], std::abs(Wide{value}));
    }
  }
  return maxima;
}

}  // namespace

ParameterMaxima parameter_maxima(const Parameters& parameters) { return largest<std::int64_t>(parameters); }

ByParameter<double> parameter_maxima(const FloatModel& model) {
  ByParameter<double> maxima = largest<double>(model.parameters);
  for (const ParameterRow& row : parameter_table(model.shape)) {
    maxima[row.id] /= row.divisor(model.shape);
  }
  return maxima;
}

Parameters quantize(const FloatModel& model, const Exponents& exponents) {
  Parameters parameters(model.shape);
  for (const ParameterRow& row : parameter_table(model.shape)) {
    quantize_parameter(row, model.parameters[row.id].values(), row.divisor(model.shape), exponents.*row.exponent,
                       parameters[row.id].values());
  }
  return parameters;
}

}  // namespace tessera
