#pragma once

#include <bit>
#include <cstddef>

namespace tessera {

/// ceil(log2 n), n >= 1.
constexpr unsigned ceil_log2(std::size_t n) { return n <= 1 ? 0 : static_cast<unsigned>(std::bit_width(n - 1)); }

}  // namespace tessera
