#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "field/extension.hpp"
#include "hash/blake2s.hpp"

namespace tessera {

/// Random elements of F by place: AES-256 in counter mode under H(0x06 || seed || purpose), words of 8 bytes; a word
/// that is no element is replaced by the one at its place of the next stream (purpose + "'"). The same elements whoever
/// makes them, in whatever order.
class KeyedStream {
 public:
  KeyedStream(const Digest& seed, std::string_view purpose);
  ~KeyedStream();
  KeyedStream(KeyedStream&&) noexcept;
  KeyedStream(const KeyedStream&) = delete;
  KeyedStream& operator=(const KeyedStream&) = delete;

  /// Elements first, first + 1, ..
  void elements(std::uint64_t first, std::span<F> to) const;
  /// Elements 2*first, 2*first + 1 as coordinates, and so on.
  void elements(std::uint64_t first, std::span<E> to) const;

 private:
  struct Cipher;
  Digest seed_;
  std::string purpose_;
  std::unique_ptr<Cipher> cipher_;
};

/// 32 bytes of the operating system's random source. Throws JobError if there is none.
Digest random_seed();

}  // namespace tessera
