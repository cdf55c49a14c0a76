#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "field/extension.hpp"

namespace tessera {

/// Canonical encoding of field elements: 8 bytes little endian each, c0 before c1.
std::vector<std::uint8_t> encode(std::span<const E> values);
std::vector<std::uint8_t> encode(std::span<const F> values);

}  // namespace tessera
