#include "hash/blake2s.hpp"
#include "hash/blake2s_portable.hpp"

namespace tessera {

Digest blake2s(std::span<const std::uint8_t> message) {
  PortableBlake2s hash;
  hash.update(message);
  return hash.digest();
}

Blake2s::Blake2s() : context_(new PortableBlake2s) {}
Blake2s::~Blake2s() { delete static_cast<PortableBlake2s*>(context_); }
void Blake2s::update(std::span<const std::uint8_t> part) { static_cast<PortableBlake2s*>(context_)->update(part); }
Digest Blake2s::digest() { return static_cast<PortableBlake2s*>(context_)->digest(); }

}  // namespace tessera
