#pragma once

#include <span>
#include <string_view>

#include "hash/blake2s.hpp"

namespace tessera::test {

/// A seed that says what it is for.
inline Digest seed_of(std::string_view name) {
  return blake2s(std::span(reinterpret_cast<const std::uint8_t*>(name.data()), name.size()));
}

}  // namespace tessera::test
