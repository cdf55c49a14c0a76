#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tessera {

/// ceil(log2 n), n >= 1.
constexpr unsigned ceil_log2(std::uint64_t n) { return n <= 1 ? 0 : static_cast<unsigned>(std::bit_width(n - 1)); }

/// The low `bits` bits of `index`, reversed.
constexpr std::size_t bit_reverse(std::size_t index, unsigned bits) {
  if (bits == 0) {
    return 0;
  }
  std::uint64_t x = index;
  x = (x & 0x5555555555555555ULL) << 1 | (x >> 1 & 0x5555555555555555ULL);
  x = (x & 0x3333333333333333ULL) << 2 | (x >> 2 & 0x3333333333333333ULL);
  x = (x & 0x0F0F0F0F0F0F0F0FULL) << 4 | (x >> 4 & 0x0F0F0F0F0F0F0F0FULL);
  return __builtin_bswap64(x) >> (64 - bits);
}

}  // namespace tessera
