#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

namespace tessera::test {

using Bytes = std::vector<std::uint8_t>;

/// TESSERA_FUZZ_ROUNDS, or 2000.
inline std::size_t rounds() {
  const char* given = std::getenv("TESSERA_FUZZ_ROUNDS");
  return given != nullptr ? std::strtoul(given, nullptr, 10) : 2000;
}

Bytes random_bytes(std::mt19937_64& random, std::size_t size);

/// One change: bits, truncation, a random tail, a piece cut out, put in elsewhere, overwritten, rotated.
Bytes mutate(std::mt19937_64& random, Bytes bytes);

}  // namespace tessera::test
