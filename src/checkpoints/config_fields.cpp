#include "checkpoints/config_fields.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "checkpoints/neutral_fields.hpp"
#include "plan/limits.hpp"

namespace tessera {

using nlohmann::json;

std::size_t ConfigFields::size(const std::string& name, std::string_view limit) {
  const std::size_t value = count(name);
  check_limit(limit, value, file_ + ": " + name);
  return value;
}

std::size_t ConfigFields::size(const std::string& name, std::string_view limit, std::size_t absent) {
  if (has_value(name)) {
    return size(name, limit);
  }
  drop(name);
  return absent;
}

std::size_t ConfigFields::count(const std::string& name) {
  const json value = take(name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0) {
    refuse(name, "a positive integer", value);
  }
  return value.get<std::size_t>();
}

double ConfigFields::positive(const std::string& name, double most) {
  const json value = take(name);
  if (!value.is_number() || !(value.get<double>() > 0) || !(value.get<double>() < most)) {
    refuse(name, "a number between 0 and " + json(most).dump(), value);
  }
  return value.get<double>();
}

double ConfigFields::positive(const std::string& name, double most, double absent) {
  return has(name) ? positive(name, most) : absent;
}

std::vector<double> ConfigFields::positive_numbers(const std::string& name, double most) {
  const json value = take(name);
  std::vector<double> numbers;
  for (const json& number : value.is_array() ? value : json::array({nullptr})) {
    if (!number.is_number() || !(number.get<double>() > 0) || !(number.get<double>() < most)) {
      refuse(name, "a list of numbers between 0 and " + json(most).dump(), value);
    }
    numbers.push_back(number.get<double>());
  }
  return numbers;
}

bool ConfigFields::boolean(const std::string& name, bool absent) {
  if (!has_value(name)) {
    drop(name);
    return absent;
  }
  return one_of(name, {true, false}).get<bool>();
}

json ConfigFields::one_of(const std::string& name, const std::vector<json>& accepted) {
  json value = has(name) ? take(name) : accepted.front();
  if (std::ranges::find(accepted, value) == accepted.end()) {
    refuse(name, "one of " + json(accepted).dump(), value);
  }
  return value;
}

ConfigFields ConfigFields::object(const std::string& name) {
  json value = take(name);
  if (!value.is_object()) {
    refuse(name, "an object", value);
  }
  return {std::move(value), file_ + ": " + name};
}

void ConfigFields::refuse_rest(std::span<const std::string_view> ignored) const {
  for (const auto& [name, value] : root_.items()) {
    const auto neutral = std::ranges::find(neutral_fields(), name, &NeutralField::name);
    if (neutral != neutral_fields().end()) {
      if (std::ranges::find(neutral->values, value) == neutral->values.end()) {
        refuse(name, "one of " + json(neutral->values).dump() + " (other values: " + std::string(neutral->why) + ")",
               value);
      }
    } else if (std::ranges::find(ignored_fields(), name, &IgnoredField::name) == ignored_fields().end() &&
               std::ranges::find(ignored, name) == ignored.end()) {
      throw InputError(file_ + ": field " + quoted_name(name) + " is not supported, found " +
                       value.dump().substr(0, 80));
    }
  }
}

void ConfigFields::refuse(const std::string& name, const std::string& expected, const json& found) const {
  throw InputError(file_ + ": " + name + ": expected " + expected + ", found " + found.dump().substr(0, 80));
}

json ConfigFields::take(const std::string& name) {
  if (!root_.contains(name)) {
    throw InputError(file_ + ": " + name + ": expected a value, found none");
  }
  json value = root_.at(name);
  root_.erase(name);
  return value;
}

}  // namespace tessera
