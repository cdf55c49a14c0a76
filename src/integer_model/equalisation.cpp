#include "integer_model/equalisation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "arithmetic/clones.hpp"
#include "arithmetic/integer_product.hpp"
#include "base/errors.hpp"
#include "integer_model/equalised_sides.hpp"
#include "integer_model/gains.hpp"

namespace tessera {
namespace {

constexpr int largest_power = 40;  // either way; float32 goes to 2^127
// Products before norms: the former change the columns that the norms' powers depend on.
constexpr std::string_view order[] = {"product", "value", "rotated", "norm_1", "norm_2", "norm_f"};

/// The matrix or vector of one block, and the channels of its rows or columns.
struct SideOfBlock {
  std::span<float> values;
  std::size_t rows = 0, columns = 0;
  std::vector<std::size_t> channels;
};

SideOfBlock side_of_block(FloatModel& model, const EqualisedSide& side, std::size_t block) {
  const ParameterExtents extents = parameter_row(model.shape, side.id).extents(model.shape);
  const std::size_t size = extents.rows * extents.columns;
  SideOfBlock found{model.parameters[side.id].values().subspan(block * size, size), extents.rows, extents.columns,
                    std::vector<std::size_t>(side.columns ? extents.columns : extents.rows)};
  for (std::size_t index = 0; index < found.channels.size(); ++index) {
    found.channels[index] = side.channel(index);
  }
  return found;
}

/// Each column by its factor, or all by the first.
TESSERA_CLONES(bool, scale_row, (float* values, const float* factors, bool own, std::size_t size),
               (values, factors, own, size)) {
  bool finite = true;
  const float first = factors[0];
#pragma omp simd reduction(&& : finite)
  for (std::size_t i = 0; i < size; ++i) {
    values[i] *= own ? factors[i] : first;
    finite = finite && std::abs(values[i]) <= std::numeric_limits<float>::max();
  }
  return finite;
}

void scale(FloatModel& model, const EqualisedSide& side, std::size_t block, std::span<const std::int16_t> powers) {
  const SideOfBlock matrix = side_of_block(model, side, block);
  std::vector<float> factors(matrix.channels.size());
  std::ranges::transform(matrix.channels, factors.begin(), [&](std::size_t channel) {
    return std::ldexp(1.0F, side.divided ? -powers[channel] : powers[channel]);
  });
  if (std::ranges::all_of(factors, [](float factor) { return factor == 1; })) {
    return;
  }
  bool finite = true;
#pragma omp parallel for schedule(static) reduction(&& : finite) if (matrix.values.size() > parallel_work)
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    finite = scale_row(matrix.values.data() + row * matrix.columns, factors.data() + (side.columns ? 0 : row),
                       side.columns, matrix.columns) &&
             finite;
  }
  if (finite) {
    return;
  }
  const auto found = std::ranges::find_if_not(matrix.values, [](float value) { return std::isfinite(value); });
  const auto index = static_cast<std::size_t>(found - matrix.values.begin());
  const std::size_t channel = matrix.channels[side.columns ? index % matrix.columns : index / matrix.columns];
  throw InputError("equalisation: " + std::string(parameter_row(model.shape, side.id).name) + "[" +
                   std::to_string(block * matrix.values.size() + index) +
                   "]: expected a value that float32 holds, found 2^" + std::to_string(powers[channel]) +
                   " times too much");
}

const EqualisedPlace* find_place(const std::vector<EqualisedPlace>& places, std::string_view name) {
  const auto found = std::ranges::find(places, name, &EqualisedPlace::name);
  return found == places.end() ? nullptr : &*found;
}

void apply_place(FloatModel& model, const EqualisedPlace& place, std::span<const std::int16_t> powers) {
  const std::size_t channels = equalised_channels(place, model.shape);
  for (const EqualisedSide& side : equalised_sides(place.name, model.shape)) {
    for (std::size_t block = 0; block * channels < powers.size(); ++block) {
      scale(model, side, block, powers.subspan(block * channels, channels));
    }
  }
}

const std::vector<double>& activations_of(const Calibration& calibration, std::string_view place) {
  return calibration.channels.at(place == "rotated" ? "rotated_q" : std::string(place));
}

/// What activations are balanced against: the channels' largest weights where they are read; of rotated pairs, the
/// keys that they meet.
std::vector<double> opposite_maxima(const FloatModel& model, const Calibration& calibration,
                                    const EqualisedPlace& place) {
  if (place.name == "rotated") {
    return calibration.channels.at("rotated_k");
  }
  std::vector<double> maxima(place.count);
  const std::size_t channels = equalised_channels(place, model.shape);
  for (const EqualisedSide& side : equalised_sides(place.name, model.shape)) {
    if (side.divided) {
      continue;
    }
    const std::vector<double> columns = column_maxima(model, side.id);
    const std::size_t width = columns.size() / (maxima.size() / channels);  // of a block
    for (std::size_t i = 0; i < columns.size(); ++i) {
      double& maximum = maxima[i / width * channels + side.channel(i % width)];
      maximum = std::max(maximum, columns[i]);
    }
  }
  return maxima;
}

/// Half-way between the activations' and the others' sizes. Channels without a size keep theirs.
std::vector<std::int16_t> choose_powers(std::span<const double> activations, std::span<const double> others) {
  std::vector<double> logs;
  for (std::size_t i = 0; i < activations.size(); ++i) {
    if (activations[i] > 0 && others[i] > 0) {
      logs.push_back(std::log2(activations[i] / others[i]) / 2);
    }
  }
  if (logs.empty()) {
    return std::vector<std::int16_t>(activations.size());
  }
  // a power that all channels share does nothing
  const auto middle = logs.begin() + static_cast<std::ptrdiff_t>(logs.size() / 2);
  std::ranges::nth_element(logs, middle);
  std::vector<std::int16_t> powers(activations.size());
  for (std::size_t i = 0; i < activations.size(); ++i) {
    if (activations[i] > 0 && others[i] > 0) {
      const double power = std::round(std::log2(activations[i] / others[i]) / 2 - *middle);
      powers[i] = static_cast<std::int16_t>(std::clamp<double>(power, -largest_power, largest_power));
    }
  }
  return powers;
}

/// Raises channels that are read by far smaller weights than others are, up to a quarter of the median: those weights
/// would have few bits left, and what is divided has bits enough.
std::vector<std::int16_t> choose_raising_powers(std::span<const double> others) {
  std::vector<double> sizes;
  std::ranges::copy_if(others, std::back_inserter(sizes), [](double size) { return size > 0; });
  std::vector<std::int16_t> powers(others.size());
  if (sizes.empty()) {
    return powers;
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (others[i] > 0) {
      const double power = std::floor(std::log2(*middle / others[i])) - 2;
      powers[i] = static_cast<std::int16_t>(std::clamp<double>(power, 0, largest_power));
    }
  }
  return powers;
}

/// Norms' outputs as the integers have them: without the mantissas of their gains.
void take_mantissas(const FloatModel& model, Calibration& calibration) {
  for (const auto& [place, gain] : {std::pair{"norm_1", gamma1}, {"norm_2", gamma2}, {"norm_f", gammaf}}) {
    const auto found = calibration.channels.find(place);
    if (found == calibration.channels.end() || !is_folded_gain(model.shape, gain)) {
      continue;
    }
    const std::vector<double> mantissas = gain_mantissas(model, gain, no_least_power);
    for (std::size_t i = 0; i < mantissas.size(); ++i) {
      found->second[i] /= std::abs(mantissas[i]);
    }
  }
}

double largest_scaled(std::span<const double> channels, std::span<const std::int16_t> powers, int sign) {
  double maximum = 0;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    maximum = std::max(maximum, std::ldexp(channels[i], sign * powers[i]));
  }
  return maximum;
}

void scale_maxima(Calibration& calibration, std::string_view place, std::span<const std::int16_t> powers) {
  const double divided = largest_scaled(activations_of(calibration, place), powers, -1);
  if (place == "norm_1") {
    calibration.maxima["u1"] = divided;
  } else if (place == "norm_2") {
    calibration.maxima["u2"] = divided;
  } else if (place == "norm_f") {
    calibration.maxima["uf"] = divided;
  } else if (place == "product") {
    calibration.maxima["product"] = divided;
  } else if (place == "value") {
    calibration.maxima["v"] = calibration.maxima["y"] = divided;  // y is a mean of v
  } else {
    calibration.maxima["q"] = divided;
    calibration.maxima["k"] = largest_scaled(calibration.channels.at("rotated_k"), powers, 1);
  }
}

}  // namespace

Equalisation no_equalisation(const ModelShape& shape) {
  Equalisation none;
  for (const EqualisedPlace& place : equalised_places(shape)) {
    none[std::string(place.name)].resize(place.count);
  }
  return none;
}

Equalisation inverse(Equalisation equalisation) {
  for (auto& [place, powers] : equalisation) {
    std::ranges::transform(powers, powers.begin(), [](int power) { return static_cast<std::int16_t>(-power); });
  }
  return equalisation;
}

void apply_powers(FloatModel& model, const Equalisation& equalisation) {
  const std::vector<EqualisedPlace> places = equalised_places(model.shape);
  for (const auto& [name, powers] : equalisation) {
    const EqualisedPlace* const place = find_place(places, name);
    if (place == nullptr || place->count != powers.size()) {
      throw InputError("equalisation/" + name + ": expected " + std::to_string(place == nullptr ? 0 : place->count) +
                       " powers, found " + std::to_string(powers.size()));
    }
    if (std::ranges::any_of(powers, [](int power) { return std::abs(power) > largest_power; })) {
      throw InputError("equalisation/" + name + ": expected powers from " + std::to_string(-largest_power) + " to " +
                       std::to_string(largest_power) + ", found others");
    }
  }
  for (const EqualisedPlace& place : places) {
    if (const auto found = equalisation.find(place.name); found != equalisation.end()) {
      apply_place(model, place, found->second);
    }
  }
}

Equalisation equalise(FloatModel& model, Calibration& calibration, bool wide_product) {
  Equalisation result;
  take_mantissas(model, calibration);
  const std::vector<EqualisedPlace> places = equalised_places(model.shape);
  for (const std::string_view name : order) {
    const EqualisedPlace* const place = find_place(places, name);
    if (place == nullptr) {
      continue;
    }
    const std::vector<double> others = opposite_maxima(model, calibration, *place);
    std::vector<std::int16_t> powers = wide_product && name == "product"
                                           ? choose_raising_powers(others)
                                           : choose_powers(activations_of(calibration, name), others);
    apply_place(model, *place, powers);
    scale_maxima(calibration, name, powers);
    result.emplace(name, std::move(powers));
  }
  calibration.channels.clear();
  return result;
}

}  // namespace tessera
