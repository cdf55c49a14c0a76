#include "model/equalisation.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/errors.hpp"
#include "model/equalised_sides.hpp"

namespace tessera {
namespace {

constexpr int largest_power = 40;  // either way; float32 goes to 2^127
// Products before norms: the former change the columns that the norms' powers depend on.
constexpr std::string_view order[] = {"product", "value", "rotated", "norm_1", "norm_2", "norm_f"};

/// Calls visit(channel, values) for runs of values of one block: of a row's channel the whole row, of columns' channels
/// single values.
template <class Visitor>
void for_each_run(FloatModel& model, const EqualisedSide& side, std::size_t block, Visitor&& visit) {
  const ParameterExtents extents = parameter_row(model.shape, side.id).extents(model.shape);
  std::vector<std::size_t> channels(side.columns ? extents.columns : extents.rows);
  for (std::size_t index = 0; index < channels.size(); ++index) {
    channels[index] = side.channel(index);
  }
  const std::span<float> values = model.parameters[side.id].values().subspan(block * extents.rows * extents.columns,
                                                                             extents.rows * extents.columns);
  for (std::size_t row = 0; row < extents.rows; ++row) {
    const std::span<float> entries = values.subspan(row * extents.columns, extents.columns);
    if (!side.columns) {
      visit(channels[row], entries);
      continue;
    }
    for (std::size_t column = 0; column < extents.columns; ++column) {
      visit(channels[column], entries.subspan(column, 1));
    }
  }
}

void scale(FloatModel& model, const EqualisedSide& side, std::size_t block, std::span<const std::int16_t> powers) {
  std::vector<float> factors(powers.size());
  std::ranges::transform(powers, factors.begin(),
                         [&](int power) { return std::ldexp(1.0F, side.divided ? -power : power); });
  for_each_run(model, side, block, [&](std::size_t channel, std::span<float> values) {
    for (float& value : values) {
      value *= factors[channel];
      if (!std::isfinite(value)) {
        const ParameterRow row = parameter_row(model.shape, side.id);
        throw InputError("equalisation: " + std::string(row.name) + "[" +
                         std::to_string(&value - model.parameters[side.id].values().data()) +
                         "]: expected a value that float32 holds, found 2^" + std::to_string(powers[channel]) +
                         " times too much");
      }
    }
  });
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
std::vector<double> opposite_maxima(FloatModel& model, const Calibration& calibration, const EqualisedPlace& place) {
  if (place.name == "rotated") {
    return calibration.channels.at("rotated_k");
  }
  std::vector<double> maxima(place.count);
  const std::size_t channels = equalised_channels(place, model.shape);
  for (const EqualisedSide& side : equalised_sides(place.name, model.shape)) {
    for (std::size_t block = 0; !side.divided && block * channels < maxima.size(); ++block) {
      for_each_run(model, side, block, [&](std::size_t channel, std::span<const float> values) {
        double& maximum = maxima[block * channels + channel];
        for (const float value : values) {
          maximum = std::max(maximum, static_cast<double>(std::abs(value)));
        }
      });
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

Equalisation equalise(FloatModel& model, Calibration& calibration) {
  Equalisation result;
  const std::vector<EqualisedPlace> places = equalised_places(model.shape);
  for (const std::string_view name : order) {
    const EqualisedPlace* const place = find_place(places, name);
    if (place == nullptr) {
      continue;
    }
    std::vector<std::int16_t> powers =
        choose_powers(activations_of(calibration, name), opposite_maxima(model, calibration, *place));
    apply_place(model, *place, powers);
    scale_maxima(calibration, name, powers);
    result.emplace(name, std::move(powers));
  }
  calibration.channels.clear();
  return result;
}

}  // namespace tessera
