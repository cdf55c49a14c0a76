#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// Strict reading of sections of a JSON file; `what` names the file and the place. All refusals are InputErrors.

/// At most 120 characters of a value, for people.
std::string shown(const nlohmann::json& value);
[[noreturn]] void refuse(const std::string& what, const std::string& expected, const nlohmann::json& found);

/// A field of an object and the values that it may have, any if there are none here; a field that the object lacks has
/// the first, and must be there if there are none.
struct JsonField {
  const char* name;
  std::vector<nlohmann::json> values;
};

/// The object has no other fields than these and `type`, with such values. Ignored ones have the name of a field only.
void check_fields(const nlohmann::json& object, const std::string& what, const std::vector<JsonField>& fields,
                  const std::vector<std::string_view>& ignored = {});

std::string type_of(const nlohmann::json& part, const std::string& what);

/// The parts of a Sequence, whose field is called `list`; of null none, else the part itself.
std::vector<nlohmann::json> sequence_of(const nlohmann::json& part, const char* list, const std::string& what);

/// The id of a token, below `vocabulary`.
std::uint32_t id_of(const nlohmann::json& value, std::size_t vocabulary, const std::string& what);

}  // namespace tessera
