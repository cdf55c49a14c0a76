#pragma once

namespace tessera {

inline constexpr double mebibyte = 1 << 20;  // bytes

}  // namespace tessera
