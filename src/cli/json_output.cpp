#include "cli/json_output.hpp"

#include <algorithm>

namespace tessera::cli {

std::string json_line(const Json& value) { return value.dump(-1, ' ', true, Json::error_handler_t::replace); }

void JsonDocument::begin(const std::string& name) {
  text_ += text_.size() == 1 ? "\n " : ",\n ";
  text_ += json_line(name) + ": ";
}

void JsonDocument::add(const std::string& name, const Json& value) {
  if (value.is_array() && !value.empty() && value.front().is_object()) {
    std::vector<std::string> lines;
    std::ranges::transform(value, std::back_inserter(lines), json_line);
    add_lines(name, lines);
    return;
  }
  begin(name);
  text_ += json_line(value);
}

void JsonDocument::add_lines(const std::string& name, std::span<const std::string> lines) {
  begin(name);
  text_ += '[';
  for (std::size_t i = 0; i < lines.size(); ++i) {
    text_ += i == 0 ? "\n  " : ",\n  ";
    text_ += lines[i];
  }
  text_ += lines.empty() ? "]" : "\n ]";
}

bool is_safe_json(std::string_view text) {
  const auto shown = [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); };
  return std::ranges::all_of(text, shown) && Json::accept(text);
}

}  // namespace tessera::cli
