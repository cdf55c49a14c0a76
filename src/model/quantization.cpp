#include <algorithm>
#include <cmath>
#include <sstream>
#include "arithmetic/clones.hpp"
#include "arithmetic/integer_product.hpp"
#include "base/errors.hpp"
#include "model/quantization.hpp"

namespace tessera {
namespace {

constexpr std::size_t piece = std::size_t{1} << 16U;  // values that a thread takes at a time

double rounded(float value, double divisor, double unit) {
  return std::floor(static_cast<double>(value) / divisor * unit + 0.5);
}

/// Whether all of them are int16.
TESSERA_CLONES bool quantize_piece(const float* values, double divisor, double unit, std::int16_t* integers,
                                   std::size_t size) {
  bool fits = true;
#pragma omp simd reduction(&& : fits)
  for (std::size_t i = 0; i < size; ++i) {
    const double value = std::floor(static_cast<double>(values[i]) / divisor * unit + 0.5);
    const bool fitting = value >= -32768.0 && value <= 32767.0;
    fits = fits && fitting;
    integers[i] = static_cast<std::int16_t>(static_cast<std::int32_t>(fitting ? value : 0.0));
  }
  return fits;
}

[[noreturn]] void refuse(const ParameterRow& row, std::span<const float> values, double divisor, int exponent) {
  const double unit = std::ldexp(1.0, exponent);
  const auto found = std::ranges::find_if(values, [&](float value) {
    const double integer = rounded(value, divisor, unit);
    return !(integer >= -32768.0 && integer <= 32767.0);
  });
  std::ostringstream message;
  message << "parameter " << row.name << "[" << found - values.begin() << "]: expected an absolute value up to "
          << std::ldexp(32767.0, -exponent) << " (int16 with exponent " << exponent << "), found "
          << static_cast<double>(*found) / divisor;
  throw InputError(message.str());
}

void quantize_parameter(const ParameterRow& row, std::span<const float> values, double divisor, int exponent,
                        std::span<std::int16_t> integers) {
  const double unit = std::ldexp(1.0, exponent);  // multiplying by it is exact
  bool fits = true;
#pragma omp parallel for schedule(static) reduction(&& : fits) if (values.size() > parallel_work)
  for (std::size_t first = 0; first < values.size(); first += piece) {
    const std::size_t size = std::min(piece, values.size() - first);
    fits = quantize_piece(values.data() + first, divisor, unit, integers.data() + first, size) && fits;
  }
  if (!fits) {
    refuse(row, values, divisor, exponent);
  }
}

TESSERA_CLONES void extend_range(const float* values, std::size_t size, float& least, float& most) {
  float low = least;
  float high = most;
#pragma omp simd reduction(min : low) reduction(max : high)
  for (std::size_t i = 0; i < size; ++i) {
    low = values[i] < low ? values[i] : low;
    high = values[i] > high ? values[i] : high;
  }
  least = low;
  most = high;
}

TESSERA_CLONES void extend_range(const std::int16_t* values, std::size_t size, std::int16_t& least,
                                 std::int16_t& most) {
  std::int16_t low = least;
  std::int16_t high = most;
#pragma omp simd reduction(min : low) reduction(max : high)
  for (std::size_t i = 0; i < size; ++i) {
    low = values[i] < low ? values[i] : low;
    high = values[i] > high ? values[i] : high;
  }
  least = low;
  most = high;
}

template <class Wide, class T>
ByParameter<Wide> largest(const BasicParameters<T>& parameters) {
  ByParameter<Wide> maxima{};
  for (std::size_t id = 0; id < parameter_count; ++id) {
    const std::span<const T> values = parameters[static_cast<ParameterId>(id)].values();
    T least = 0;
    T most = 0;
#pragma omp parallel for schedule(static) reduction(min                    \
                                                    : least) reduction(max \
                                                                       : most) if (values.size() > parallel_work)
    for (std::size_t first = 0; first < values.size(); first += piece) {
      extend_range(values.data() + first, std::min(piece, values.size() - first), least, most);
    }
    maxima[id] = std::max(-Wide{least}, Wide{most});
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

Parameters quantize(FloatModel&& model, const Exponents& exponents) {
  Parameters parameters;
  // smallest first: what each gives back is the memory that the next ones take
  std::vector<ParameterRow> rows = parameter_table(model.shape);
  std::ranges::stable_sort(rows, {}, [&](const ParameterRow& row) { return model.parameters[row.id].values().size(); });
  for (const ParameterRow& row : rows) {
    parameters[row.id] = {row, model.shape, row.held_rows(model.shape, 0, {})};
    quantize_parameter(row, model.parameters[row.id].values(), row.divisor(model.shape), exponents.*row.exponent,
                       parameters[row.id].values());
    model.parameters[row.id] = {};
  }
  return parameters;
}

}  // namespace tessera
