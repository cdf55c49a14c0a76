#pragma once

#include <bit>
#include <cstdint>

namespace tessera {

/// The value of a binary16 number, exact: in the fields of a float, a half lacks the difference of the biases, 2^112;
/// its largest exponent (infinity, NaN) stays that.
inline float from_half(std::uint16_t bits) {
  const std::uint32_t exponent = (bits & 0x7C00U) == 0x7C00U ? 0x7F800000U : 0U;
  const float magnitude = std::bit_cast<float>((bits & 0x7FFFU) << 13U | exponent) * 0x1p112F;
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

/// The value of a bfloat16 number, exact: it is the upper half of a float.
inline float from_brain(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }

}  // namespace tessera
