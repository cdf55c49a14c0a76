#include "field/encoding.hpp"

#include "base/little_endian.hpp"

namespace tessera {

std::vector<std::uint8_t> encode(std::span<const F> values) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size() * 8);
  for (const F value : values) {
    append_little_endian(bytes, value.value());
  }
  return bytes;
}

std::vector<std::uint8_t> encode(std::span<const E> values) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size() * 16);
  for (const E& value : values) {
    append_little_endian(bytes, value.c0.value());
    append_little_endian(bytes, value.c1.value());
  }
  return bytes;
}

}  // namespace tessera
