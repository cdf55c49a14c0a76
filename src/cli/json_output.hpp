#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace tessera::cli {

using Json = nlohmann::ordered_json;

/// On one line and in ASCII: of strangers' text, whatever is no printable ASCII character is escaped as JSON has it,
/// and bytes that are not UTF-8 are U+FFFD.
std::string json_line(const Json& value);

/// An object, one line for each member and for each element of a list of objects.
class JsonDocument {
 public:
  void add(const std::string& name, const Json& value);
  /// `lines`: elements as json_line() gives them.
  void add_lines(const std::string& name, std::span<const std::string> lines);
  [[nodiscard]] std::string finish() const { return text_ + "\n}\n"; }

 private:
  void begin(const std::string& name);
  std::string text_ = "{";
};

/// Whether the text is one JSON value in printable ASCII and line ends.
bool is_safe_json(std::string_view text);

}  // namespace tessera::cli
