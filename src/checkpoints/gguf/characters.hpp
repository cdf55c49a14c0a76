#pragma once

namespace tessera {

/// Whether a byte of UTF-8 is a character's first.
inline bool begins_character(char byte) { return (byte & 0xC0) != 0x80; }

}  // namespace tessera
