#pragma once

#include <bit>
#include <cstdint>

namespace tessera {

/// ceil(log2 n), n >= 1.
constexpr unsigned ceil_log2(std::uint64_t n) { return n <= 1 ? 0 : static_cast<unsigned>(std::bit_width(n - 1)); }

}  // namespace tessera
