#pragma once

#include <cstdint>
#include <string>

#include "cli/json_output.hpp"

namespace tessera::cli {

/// What is told of something, written once: fields for programs, which make a JSON document, and beside them the lines
/// that say the same to people. One of the two is made.
class Description {
 public:
  enum class Form : std::uint8_t { text, json };
  explicit Description(Form form) : form_(form) {}

  /// A field of the JSON document; fields stand in this order.
  Description& field(const std::string& name, const Json& value);
  /// A field that is a list. `describe` gives the element of a row, and says its line.
  template <class Rows, class Describe>
  Description& list(const std::string& name, const Rows& rows, Describe&& describe) {
    Json elements = Json::array();
    for (const auto& row : rows) {
      elements.push_back(describe(row));
    }
    return field(name, elements);
  }
  /// A piece of the text for people.
  __attribute__((format(printf, 2, 3))) void say(const char* format, ...);
  /// The one or the other, whole.
  [[nodiscard]] std::string finish() const { return form_ == Form::json ? document_.finish() : text_; }

 private:
  Form form_;
  JsonDocument document_;
  std::string text_;
};

}  // namespace tessera::cli
