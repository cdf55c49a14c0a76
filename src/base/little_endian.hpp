#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace tessera {

/// Appends the bytes of an integer, least significant first.
template <class T>
void append_little_endian(std::vector<std::uint8_t>& bytes, T value) {
  const auto bits = static_cast<std::make_unsigned_t<T>>(value);
  for (unsigned i = 0; i < sizeof(T); ++i) {
    bytes.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
  }
}

/// Appends the bytes of many integers, of each the least significant first.
template <class T>
void append_little_endian(std::vector<std::uint8_t>& bytes, const std::vector<T>& values) {
  const std::size_t before = bytes.size();
  bytes.resize(before + values.size() * sizeof(T));
  std::uint8_t* to = bytes.data() + before;
  for (const T value : values) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (unsigned i = 0; i < sizeof(T); ++i) {
      *to++ = static_cast<std::uint8_t>(bits >> (8 * i));
    }
  }
}

/// The integer in the sizeof(T) bytes at `bytes`.
template <class T>
T read_little_endian(const std::uint8_t* bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = sizeof(T); i-- > 0;) {
    bits = bits << 8 | bytes[i];
  }
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(bits));
}

}  // namespace tessera
