#include "report/scopes.hpp"

#include <algorithm>
#include <array>

namespace tessera::report {

std::string_view outermost(std::string_view path) {
  return path.empty() ? std::string_view("/") : path.substr(0, path.find('/', 1));
}

std::size_t depth(std::string_view path) {
  return path.size() <= 1 ? 0 : static_cast<std::size_t>(std::ranges::count(path, '/'));
}

std::size_t colour_of(std::string_view path) {
  static constexpr std::array<std::string_view, 10> known{
      "/opening",      "/lookup",  "/inference", "/self_attention", "/commitment",
      "/feed_forward", "/witness", "/final",     "/embedding",      "/check"};
  static_assert(known.size() < colours);
  const auto found = std::ranges::find(known, outermost(path));
  return found == known.end() ? no_colour : static_cast<std::size_t>(found - known.begin());
}

}  // namespace tessera::report
