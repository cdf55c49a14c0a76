#pragma once

#include <concepts>
#include <string>

namespace tessera {

inline constexpr double mebibyte = 1 << 20;  // bytes

/// "1 rank", "3 ranks"
template <std::integral T>
std::string counted(T count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace tessera
