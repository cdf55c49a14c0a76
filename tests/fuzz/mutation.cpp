#include "mutation.hpp"

namespace tessera::test {
namespace {

std::ptrdiff_t place_in(std::mt19937_64& random, const Bytes& bytes) {
  return static_cast<std::ptrdiff_t>(random() % (bytes.size() + 1));
}

}  // namespace

Bytes random_bytes(std::mt19937_64& random, std::size_t size) {
  Bytes bytes(size);
  std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random()); });
  return bytes;
}

Bytes mutate(std::mt19937_64& random, Bytes bytes) {
  const auto a = place_in(random, bytes);
  const auto b = place_in(random, bytes);
  const auto [low, high] = std::minmax(a, b);
  switch (random() % 7) {
    case 0:  // bits
      for (std::size_t i = 0; i <= random() % 4; ++i) {
        bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1U << (random() % 8));
      }
      return bytes;
    case 1:  // truncated
      bytes.resize(static_cast<std::size_t>(a));
      return bytes;
    case 2: {  // random tail
      const Bytes tail = random_bytes(random, bytes.size() - static_cast<std::size_t>(a));
      std::ranges::copy(tail, bytes.begin() + a);
      return bytes;
    }
    case 3:  // a piece cut out
      bytes.erase(bytes.begin() + low, bytes.begin() + std::min(high, low + 64));
      return bytes;
    case 4: {  // a piece put in elsewhere
      const Bytes piece(bytes.begin() + low, bytes.begin() + std::min(high, low + 256));
      bytes.insert(bytes.begin() + place_in(random, bytes), piece.begin(), piece.end());
      return bytes;
    }
    case 5:  // extreme words
      std::fill(bytes.begin() + low, bytes.begin() + std::min(high, low + 64), random() % 2 == 0 ? 0x00 : 0xFF);
      return bytes;
    default:  // rotated
      std::rotate(bytes.begin() + low, bytes.begin() + (low + high) / 2, bytes.begin() + high);
      return bytes;
  }
}

}  // namespace tessera::test
