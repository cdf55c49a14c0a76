#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <stdexcept>
#include "arithmetic/clones.hpp"
#include "arithmetic/integer_product.hpp"
#include "base/errors.hpp"
#include "integer_model/gains.hpp"
#include "integer_model/quantization.hpp"

namespace tessera {
namespace {

constexpr std::size_t rounded_at_once = std::size_t{1} << 16U;  // values that a thread takes at a time

/// How the values of one parameter become integers: floor(value/divisor*factor*unit + 1/2), factor by (block, column),
/// 1 if there are none. Of gains whose mantissas are folded, the powers of two alone. Of a parameter in two pieces, the
/// piece.
struct Rounding {
  const ParameterRow& row;
  double divisor = 1, unit = 1;
  std::vector<double> factors;
  std::optional<int> least_power;  // of a folded gain
  std::vector<float> whole;        // of a low piece: what it is a piece of
  std::vector<double> blocks;      // a factor of each; empty: none

  [[nodiscard]] double divisor_of(std::size_t block) const {
    return blocks.empty() ? divisor : divisor / blocks[block];
  }
  [[nodiscard]] double real(std::span<const float> values, const ParameterExtents& extents, std::size_t index) const {
    const double value = values[index];
    if (least_power) {
      return split_gain(values[index], *least_power).power;
    }
    const std::size_t block = index / (extents.rows * extents.columns);
    if (factors.empty()) {
      return value / divisor_of(block);
    }
    return value * factors[block * extents.columns + index % extents.columns] / divisor_of(block);
  }
};

double rounded(double value, double unit) { return std::floor(value * unit + 0.5); }

bool is_int16(double integer) { return integer >= -32768.0 && integer <= 32767.0; }

/// The high piece of an integer in two.
double high_piece(double integer) { return rounded(integer, std::ldexp(1.0, -gain_piece_bits)); }

/// Whether all of them are int16.
TESSERA_CLONES(bool, quantize_piece,
               (const float* values, double divisor, double unit, std::int16_t* integers, std::size_t size),
               (values, divisor, unit, integers, size)) {
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

/// Quantizes a row whose columns have factors; returns whether all of its integers are int16. Products of a float and a
/// float's mantissa are exact.
TESSERA_CLONES(bool, quantize_row,
               (const float* values, const double* factors, double divisor, double unit, std::int16_t* integers,
                std::size_t size),
               (values, factors, divisor, unit, integers, size)) {
  bool fits = true;
#pragma omp simd reduction(&& : fits)
  for (std::size_t i = 0; i < size; ++i) {
    const double value = std::floor(static_cast<double>(values[i]) * factors[i] / divisor * unit + 0.5);
    const bool fitting = value >= -32768.0 && value <= 32767.0;
    fits = fits && fitting;
    integers[i] = static_cast<std::int16_t>(static_cast<std::int32_t>(fitting ? value : 0.0));
  }
  return fits;
}

[[noreturn]] void refuse_parameter(const Rounding& rounding, std::span<const float> values,
                                   const ParameterExtents& extents, int exponent) {
  const int low_bits = low_piece(rounding.row.id) ? gain_piece_bits : 0;
  const auto fits = [&](double integer) { return is_int16(low_bits > 0 ? high_piece(integer) : integer); };
  std::size_t index = 0;
  while (fits(rounded(rounding.real(values, extents, index), rounding.unit))) {
    ++index;
  }
  std::ostringstream message;
  message << "parameter " << rounding.row.name << "[" << index << "]: expected an absolute value up to "
          << std::ldexp(32767.0, low_bits - exponent) << " (int16 with exponent " << exponent - low_bits << "), found "
          << rounding.real(values, extents, index);
  throw InputError(message.str());
}

bool quantize_powers(const Rounding& rounding, std::span<const float> values, std::span<std::int16_t> integers) {
  bool fits = true;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double integer = rounded(split_gain(values[i], *rounding.least_power).power, rounding.unit);
    fits = fits && is_int16(integer);
    integers[i] = static_cast<std::int16_t>(is_int16(integer) ? integer : 0.0);
  }
  return fits;
}

/// High pieces are the integers over 2^9, rounded; low ones what is left of them.
bool quantize_pieces(const Rounding& rounding, std::span<const float> values, std::span<std::int16_t> integers) {
  const bool low = !rounding.whole.empty();
  bool fits = true;
  for (std::size_t i = 0; i < integers.size(); ++i) {
    const double whole = rounded((low ? rounding.whole[i] : values[i]) / rounding.divisor, rounding.unit);
    const double high = high_piece(whole);
    const double piece = low ? whole - std::ldexp(high, gain_piece_bits) : high;
    fits = fits && is_int16(piece);
    integers[i] = static_cast<std::int16_t>(is_int16(piece) ? piece : 0.0);
  }
  return fits;
}

bool quantize_rows(const Rounding& rounding, std::span<const float> values, const ParameterExtents& extents,
                   std::span<std::int16_t> integers) {
  bool fits = true;
  const std::size_t columns = extents.columns;
#pragma omp parallel for schedule(static) reduction(&& : fits) if (values.size() > parallel_work)
  for (std::size_t row = 0; row < values.size() / columns; ++row) {
    fits = quantize_row(values.data() + row * columns, rounding.factors.data() + row / extents.rows * columns,
                        rounding.divisor_of(row / extents.rows), rounding.unit, integers.data() + row * columns,
                        columns) &&
           fits;
  }
  return fits;
}

bool quantize_flat(std::span<const float> values, double divisor, double unit, std::span<std::int16_t> integers) {
  bool fits = true;
#pragma omp parallel for schedule(static) reduction(&& : fits) if (values.size() > parallel_work)
  for (std::size_t first = 0; first < values.size(); first += rounded_at_once) {
    const std::size_t size = std::min(rounded_at_once, values.size() - first);
    fits = quantize_piece(values.data() + first, divisor, unit, integers.data() + first, size) && fits;
  }
  return fits;
}

bool quantize_blocks(const Rounding& rounding, std::span<const float> values, std::span<std::int16_t> integers) {
  const std::size_t parts = std::max<std::size_t>(1, rounding.blocks.size());
  const std::size_t size = values.size() / parts;
  bool fits = true;
  for (std::size_t block = 0; block < parts; ++block) {
    fits = quantize_flat(values.subspan(block * size, size), rounding.divisor_of(block), rounding.unit,
                         integers.subspan(block * size, size)) &&
           fits;
  }
  return fits;
}

/// The rounding of each parameter, with the factors of gains that may be gone when its turn comes.
std::vector<Rounding> roundings(const FloatModel& model, const std::vector<ParameterRow>& rows,
                                const Exponents& exponents) {
  const auto exponent_of = [&](ParameterId id) { return exponents[parameter_row(model.shape, id).scale(model.shape)]; };
  std::vector<Rounding> made;
  for (const ParameterRow& row : rows) {
    Rounding rounding{row, model.divisor(row),          std::ldexp(1.0, exponents[row.scale(model.shape)]), {}, {},
                      {},  model.factors.blocks[row.id]};
    if (const auto gain = folded_gain(model.shape, row.id)) {
      rounding.factors = gain_mantissas(model, *gain, -exponent_of(*gain));
    } else if (is_folded_gain(model.shape, row.id)) {
      if (rounding.divisor != 1) {
        throw std::logic_error("quantize: a factor of " + std::string(row.name) + ", which is powers of two");
      }
      rounding.least_power = -exponent_of(row.id);
    } else if (const auto whole = piece_of(row.id)) {
      const std::span<const float> values = model.parameters[*whole].values();
      rounding.divisor = model.divisor(parameter_row(model.shape, *whole));
      rounding.whole.assign(values.begin(), values.end());
    }
    made.push_back(std::move(rounding));
  }
  return made;
}

void quantize_parameter(const FloatModel& model, const Rounding& rounding, const Exponents& exponents,
                        std::span<std::int16_t> integers) {
  const std::span<const float> values = model.parameters[rounding.row.id].values();
  const ParameterExtents extents = rounding.row.extents(model.shape);
  const bool in_pieces = low_piece(rounding.row.id) || piece_of(rounding.row.id);
  const bool fits = rounding.least_power       ? quantize_powers(rounding, values, integers)
                    : in_pieces                ? quantize_pieces(rounding, values, integers)
                    : rounding.factors.empty() ? quantize_blocks(rounding, values, integers)
                                               : quantize_rows(rounding, values, extents, integers);
  if (!fits) {
    refuse_parameter(rounding, values, extents, exponents[rounding.row.scale(model.shape)]);
  }
}

TESSERA_CLONES(void, extend_range, (const float* values, std::size_t size, float& least, float& most),
               (values, size, least, most)) {
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

TESSERA_CLONES(void, extend_range,
               (const std::int16_t* values, std::size_t size, std::int16_t& least, std::int16_t& most),
               (values, size, least, most)) {
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
    for (std::size_t first = 0; first < values.size(); first += rounded_at_once) {
      extend_range(values.data() + first, std::min(rounded_at_once, values.size() - first), least, most);
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
    if (const std::vector<double>& factors = model.factors.blocks[row.id]; !factors.empty()) {
      const std::vector<double> columns = column_maxima(model, row.id);
      maxima[row.id] = 0;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        maxima[row.id] = std::max(maxima[row.id], columns[i] * factors[i * factors.size() / columns.size()]);
      }
    } else if (const auto gain = folded_gain(model.shape, row.id)) {
      maxima[row.id] = std::ranges::max(column_maxima(model, row.id));
    } else if (is_folded_gain(model.shape, row.id)) {
      maxima[row.id] = split_gain(static_cast<float>(maxima[row.id]), no_least_power).power;
    }
    maxima[row.id] /= model.divisor(row);
  }
  return maxima;
}

Parameters quantize(const FloatModel& model, const Exponents& exponents) {
  Parameters parameters(model.shape);
  const std::vector<ParameterRow> rows = parameter_table(model.shape);
  for (const Rounding& rounding : roundings(model, rows, exponents)) {
    quantize_parameter(model, rounding, exponents, parameters[rounding.row.id].values());
  }
  return parameters;
}

Parameters quantize(FloatModel&& model, const Exponents& exponents) {
  Parameters parameters;
  // smallest first: what each gives back is the memory that the next ones take
  std::vector<ParameterRow> rows = parameter_table(model.shape);
  std::ranges::stable_sort(rows, {}, [&](const ParameterRow& row) { return model.parameters[row.id].values().size(); });
  for (const Rounding& rounding : roundings(model, rows, exponents)) {
    const ParameterRow& row = rounding.row;
    parameters[row.id] = {row, model.shape, row.held_rows(model.shape, 0, {})};
    quantize_parameter(model, rounding, exponents, parameters[row.id].values());
    model.parameters[row.id] = {};
  }
  return parameters;
}

}  // namespace tessera
