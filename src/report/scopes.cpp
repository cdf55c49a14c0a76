#include "report/scopes.hpp"

#include <algorithm>

namespace tessera::report {

std::string_view outermost(std::string_view path) {
  return path.empty() ? std::string_view("/") : path.substr(0, path.find('/', 1));
}

std::size_t depth(std::string_view path) {
  return path.size() <= 1 ? 0 : static_cast<std::size_t>(std::ranges::count(path, '/'));
}

std::size_t Palette::of(std::string_view path) {
  const std::string_view scope = outermost(path);
  const auto found = std::ranges::find(scopes_, scope);
  const auto index = static_cast<std::size_t>(found - scopes_.begin());
  if (found == scopes_.end() && scopes_.size() + 1 < count) {
    scopes_.emplace_back(scope);
  }
  return std::min(index, count - 1);
}

}  // namespace tessera::report
