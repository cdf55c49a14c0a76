#pragma once

#include <cstdint>
#include <limits>

namespace tessera {

/// No id, and no place of one.
inline constexpr std::uint32_t no_token = std::numeric_limits<std::uint32_t>::max();

/// What merges are looked up by.
inline std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) { return std::uint64_t{left} << 32U | right; }

}  // namespace tessera
