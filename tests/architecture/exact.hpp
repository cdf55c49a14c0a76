#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::test {

/// Integers that nothing here overflows.
using Wide = __int128;

inline std::int64_t floor_div(Wide a, Wide b) {
  const Wide quotient = a / b;
  return static_cast<std::int64_t>(quotient * b > a ? quotient - 1 : quotient);
}

/// Of values below 2^82.
inline std::int64_t square_root(Wide value) {
  Wide root = 0;
  for (Wide bit = Wide{1} << 40; bit != 0; bit /= 2) {
    root += (root + bit) * (root + bit) <= value ? bit : 0;
  }
  return static_cast<std::int64_t>(root);
}

inline Wide times_power(Wide value, int power) { return value * (Wide{1} << power); }

/// C: the root of n*2^32, rounded.
inline std::int64_t rounded_root(std::size_t n) {
  const Wide square = times_power(static_cast<Wide>(n), 32);
  const Wide root = square_root(square);
  return static_cast<std::int64_t>(root * root + root < square ? root + 1 : root);
}

}  // namespace tessera::test
