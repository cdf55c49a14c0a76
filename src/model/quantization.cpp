#include <algorithm>
#include <cmath>
#include <sstream>
#include "base/errors.hpp"
#include "model/quantization.hpp"

namespace tessera {
namespace {

/// What a weight is divided by before it is quantized: sqrt(m) for wq and bq.
double divisor(std::string_view name, const ModelShape& shape) {
  return name == "wq" || name == "bq" ? std::sqrt(static_cast<double>(shape.head_size())) : 1.0;
}

std::map<std::string, int> exponents_by_parameter(const Exponents& exponents) {
  std::map<std::string, int> by_name;
  for_each_exponent(exponents, [&](std::string_view name, int value) { by_name[std::string(name)] = value; });
  by_name["embedding"] = by_name["position"] = exponents.residual;
  return by_name;
}

Parameters::Tensor quantize_tensor(std::string_view name, const std::vector<float>& values, double divided_by,
                                   int exponent) {
  Parameters::Tensor integers(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double rounded = std::floor(std::ldexp(static_cast<double>(values[i]) / divided_by, exponent) + 0.5);
    if (!(rounded >= -32768.0 && rounded <= 32767.0)) {
      std::ostringstream message;
      message << "parameter " << name << "[" << i << "]: expected an absolute value up to "
              << std::ldexp(32767.0, -exponent) << " (int16 with exponent " << exponent << "), found "
              << static_cast<double>(values[i]) / divided_by;
      throw InputError(message.str());
    }
    integers[i] = static_cast<std::int16_t>(rounded);
  }
  return integers;
}

}  // namespace

std::map<std::string, double> parameter_maxima(const FloatModel& model) {
  std::map<std::string, double> maxima;
  for_each_parameter(model.shape, model.parameters,
                     [&](std::string_view name, const ParameterExtents&, const std::vector<float>& values) {
                       double maximum = 0;
                       for (const float value : values) {
                         maximum = std::max(maximum, std::abs(static_cast<double>(value)));
                       }
                       maxima[std::string(name)] = maximum / divisor(name, model.shape);
                     });
  return maxima;
}

Parameters quantize(const FloatModel& model, const Exponents& exponents) {
  const std::map<std::string, int> by_name = exponents_by_parameter(exponents);
  std::map<std::string, Parameters::Tensor> integers;
  for_each_parameter(model.shape, model.parameters,
                     [&](std::string_view name, const ParameterExtents&, const std::vector<float>& values) {
                       const std::string key(name);
                       integers[key] = quantize_tensor(name, values, divisor(name, model.shape), by_name.at(key));
                     });
  Parameters parameters;
  for_each_parameter(model.shape, parameters,
                     [&](std::string_view name, const ParameterExtents&, Parameters::Tensor& target) {
                       target = std::move(integers[std::string(name)]);
                     });
  return parameters;
}

}  // namespace tessera
