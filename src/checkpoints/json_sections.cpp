#include "checkpoints/json_sections.hpp"

#include <algorithm>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace tessera {

using nlohmann::json;

std::string shown(const json& value) {
  return one_line(value.dump(-1, ' ', false, json::error_handler_t::replace), 120);
}

void refuse(const std::string& what, const std::string& expected, const json& found) {
  throw InputError(what + ": expected " + expected + ", found " + shown(found));
}

void check_fields(const json& object, const std::string& what, const std::vector<JsonField>& fields,
                  const std::vector<std::string_view>& ignored) {
  for (const auto& [name, value] : object.items()) {
    const bool known = name == "type" || std::ranges::find(ignored, name) != ignored.end() ||
                       std::ranges::find(fields, name, &JsonField::name) != fields.end();
    if (!known) {
      throw InputError(what + ": field " + quoted_name(name) + " is not supported, found " + shown(value));
    }
  }
  for (const auto& [name, values] : fields) {
    if (!object.contains(name)) {
      if (values.empty()) {
        throw InputError(what + "." + name + ": expected a value, found none");
      }
    } else if (!values.empty() && std::ranges::find(values, object[name]) == values.end()) {
      refuse(what + "." + name,
             (values.size() > 1 ? "one of " : "") + shown(values.size() > 1 ? json(values) : values[0]), object[name]);
    }
  }
}

std::string type_of(const json& part, const std::string& what) {
  if (!part.is_object() || !part.contains("type") || !part["type"].is_string()) {
    refuse(what, "an object with a type", part);
  }
  return part["type"].get<std::string>();
}

std::vector<json> sequence_of(const json& part, const char* list, const std::string& what) {
  if (part.is_null()) {
    return {};
  }
  if (type_of(part, what) != "Sequence") {
    return {part};
  }
  check_fields(part, what, {{list, {}}});
  if (!part[list].is_array()) {
    refuse(what + "." + list, "a list", part[list]);
  }
  return part[list].get<std::vector<json>>();
}

std::uint32_t id_of(const json& value, std::size_t vocabulary, const std::string& what) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= vocabulary) {
    refuse(what, "an id below " + std::to_string(vocabulary), value);
  }
  return value.get<std::uint32_t>();
}

}  // namespace tessera
