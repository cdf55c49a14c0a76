#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::report {

/// "/lookup" of "/lookup/layer"; "/" of what is outside of all scopes.
std::string_view outermost(std::string_view path);
/// 0 for "/", 1 for "/lookup", 2 for "/lookup/layer".
std::size_t depth(std::string_view path);

/// Gives every outermost scope of a proof its colour, the same in all figures: a number below `count`.
class Palette {
 public:
  static constexpr std::size_t count = 12;
  /// The last colour is for all that find no other.
  std::size_t of(std::string_view path);

 private:
  std::vector<std::string> scopes_;
};

}  // namespace tessera::report
