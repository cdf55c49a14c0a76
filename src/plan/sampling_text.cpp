#include <tessera/sampling.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "base/errors.hpp"
#include "base/plain_numbers.hpp"
#include "base/text.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr double temperature_unit = 4096;  // of a, and of distances: exponent 12
constexpr double probability_unit = 65536;

double inverse_temperature_of(double temperature) { return std::round(temperature_unit / temperature); }
double top_p_of(double top_p) { return std::max(1.0, std::round(top_p * probability_unit)); }
double cutoff_of(double min_p) {
  const double most = max_cutoff;
  return min_p == 0 ? most : std::min(most, std::floor(-std::log(min_p) * temperature_unit));
}

/// The number with the fewest digits near `about` that `integer_of` makes `integer`.
template <class Function>
double shortest(double about, double integer, const Function& integer_of) {
  const PlainNumbers plain;
  for (int digits = 1; digits <= 17; ++digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, about);
    const double value = std::strtod(text, nullptr);
    if (value > 0 && integer_of(value) == integer) {
      return value;
    }
  }
  return about;
}

std::string number_text(double value) {
  const PlainNumbers plain;
  for (int digits = 1; digits <= 17; ++digits) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value) {
      return text;
    }
  }
  return std::to_string(value);
}

[[noreturn]] void refuse(std::string_view name, std::string_view expected, const std::string& found) {
  throw InputError("sampling: " + std::string(name) + ": expected " + std::string(expected) + ", found " + found);
}

/// The whole text as a number.
double number_in(std::string_view name, const std::string& text) {
  const PlainNumbers plain;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) {
    refuse(name, "a number", quoted_name(text));
  }
  return value;
}

void set(SamplingParameters& parameters, std::string_view name, const std::string& text) {
  constexpr std::array<std::string_view, 4> names{"temperature", "top_k", "top_p", "min_p"};
  if (std::ranges::find(names, name) == names.end()) {
    throw InputError("sampling: expected temperature, top_k, top_p or min_p, found " + quoted_name(name));
  }
  const double value = number_in(name, text);
  if (name == "temperature") {
    parameters.temperature = value;
  } else if (name == "top_k") {
    if (!(value >= 1 && value <= max_top_k) || value != std::floor(value)) {
      refuse(name, "1 to " + std::to_string(max_top_k), text);
    }
    parameters.top_k = static_cast<std::uint32_t>(value);
  } else if (name == "top_p") {
    parameters.top_p = value;
  } else {
    parameters.min_p = value;
  }
}

}  // namespace

Sampling make_sampling(const SamplingParameters& parameters) {
  Sampling sampling;
  const double inverse = inverse_temperature_of(parameters.temperature);
  if (!(parameters.temperature > 0) || inverse < 1 << 8 || inverse > 1 << 17) {
    refuse("temperature", "0.03125 to 16", number_text(parameters.temperature));
  }
  if (parameters.top_k > max_top_k) {
    refuse("top_k", "1 to " + std::to_string(max_top_k), std::to_string(parameters.top_k));
  }
  if (!(parameters.top_p > 0 && parameters.top_p <= 1)) {
    refuse("top_p", "above 0 up to 1", number_text(parameters.top_p));
  }
  if (parameters.top_k == 0 && parameters.top_p < 1) {
    refuse("top_p", "a top_k beside it, or 1", number_text(parameters.top_p));
  }
  if (!(parameters.min_p >= 0 && parameters.min_p <= 1)) {
    refuse("min_p", "0 to 1", number_text(parameters.min_p));
  }
  sampling.inverse_temperature = static_cast<std::uint32_t>(inverse);
  sampling.top_k = parameters.top_k;
  sampling.top_p = static_cast<std::uint32_t>(top_p_of(parameters.top_p));
  sampling.cutoff = static_cast<std::uint32_t>(cutoff_of(parameters.min_p));
  return sampling;
}

SamplingParameters parameters_of(const Sampling& sampling) {
  SamplingParameters parameters;
  const double inverse = sampling.inverse_temperature;
  parameters.temperature = shortest(temperature_unit / inverse, inverse, inverse_temperature_of);
  parameters.top_k = sampling.top_k;
  parameters.top_p = shortest(sampling.top_p / probability_unit, sampling.top_p, top_p_of);
  parameters.min_p = sampling.cutoff >= max_cutoff
                         ? 0
                         : shortest(std::exp(-(sampling.cutoff + 0.5) / temperature_unit), sampling.cutoff, cutoff_of);
  return parameters;
}

std::string sampling_text(const Sampling& sampling) {
  const SamplingParameters parameters = parameters_of(sampling);
  std::string text = "temperature=" + number_text(parameters.temperature);
  text += sampling.dense() ? "" : ",top_k=" + std::to_string(sampling.top_k);
  text += parameters.top_p < 1 ? ",top_p=" + number_text(parameters.top_p) : "";
  return text + (parameters.min_p > 0 ? ",min_p=" + number_text(parameters.min_p) : "");
}

std::optional<Sampling> parse_sampling(std::string_view text) {
  SamplingParameters parameters;
  std::set<std::string_view> named;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view entry = text.substr(begin, end - begin);
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view name = entry.substr(0, equals);
    if (!named.insert(name).second) {
      refuse(name, "once", "twice");
    }
    set(parameters, name, std::string(entry.substr(std::min(equals + 1, entry.size()))));
    begin = end + 1;
  }
  if (!named.contains("temperature")) {
    throw InputError("sampling: expected a temperature, as in temperature=0.7,top_k=40, found " + quoted_name(text));
  }
  return parameters.temperature == 0 ? std::nullopt : std::optional(make_sampling(parameters));
}

}  // namespace tessera
