#pragma once

#include <cstddef>
#include <string_view>

namespace tessera::report {

/// "/lookup" of "/lookup/layer"; "/" of what is outside of all scopes.
std::string_view outermost(std::string_view path);
/// 0 for "/", 1 for "/lookup", 2 for "/lookup/layer".
std::size_t depth(std::string_view path);

inline constexpr std::size_t colours = 12;
inline constexpr std::size_t no_colour = colours - 1;  // grey: of what is outside of all scopes, or of no known one

/// A scope's colour is that of its outermost one: the same in all figures and tables of all pages. Below `colours`.
std::size_t colour_of(std::string_view path);

}  // namespace tessera::report
