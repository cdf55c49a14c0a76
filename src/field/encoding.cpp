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
  std::vector<F> coordinates;
  coordinates.reserve(values.size() * 2);
  for (const E& value : values) {
    coordinates.insert(coordinates.end(), {value.c0, value.c1});
  }
  return encode(coordinates);
}

}  // namespace tessera
