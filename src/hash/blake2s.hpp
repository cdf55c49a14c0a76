#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace tessera {

using Digest = std::array<std::uint8_t, 32>;

/// BLAKE2s-256 (RFC 7693), unkeyed.
Digest blake2s(std::span<const std::uint8_t> message);

/// BLAKE2s-256 of a message that comes in parts.
class Blake2s {
 public:
  Blake2s();
  ~Blake2s();
  Blake2s(const Blake2s&) = delete;
  Blake2s& operator=(const Blake2s&) = delete;
  void update(std::span<const std::uint8_t> part);
  [[nodiscard]] Digest digest();  ///< once

 private:
  void* context_;  // PortableBlake2s
};

}  // namespace tessera
