#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "hash/blake2s.hpp"

namespace tessera {

/// Lower-case hexadecimal digits.
std::string to_hex(std::span<const std::uint8_t> bytes);

/// Makes a digest what the programs print, in lower-case digits. Empty if it is one, else what is wrong.
std::string check_digest(std::string& text);

/// The 32 bytes of 64 hexadecimal digits that check_digest() has taken.
Digest digest_in(const std::string& digits);

}  // namespace tessera
