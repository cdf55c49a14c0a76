#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "hash/blake2s_constants.hpp"

namespace tessera {

using Digest = std::array<std::uint8_t, 32>;

/// BLAKE2s-256 (RFC 7693), unkeyed.
Digest blake2s(std::span<const std::uint8_t> message);

/// BLAKE2s-256 of `digests.size()` messages of `length` bytes each, one after the other: some side by side where there
/// are vectors, by the calling thread alone. For programs without the prover, which has blake2s_many().
void blake2s_each(std::span<const std::uint8_t> messages, std::size_t length, std::span<Digest> digests);

struct Blake2sKernels;
/// BLAKE2s-256 of many messages as above, in one of the ways of blake2s_kernels().
void blake2s_each(const Blake2sKernels& kernels, std::span<const std::uint8_t> messages, std::size_t length,
                  std::span<Digest> digests);

/// BLAKE2s-256 of a message that comes in parts. Our own: a third faster than OpenSSL's, which takes milliseconds to be
/// set up, too.
class Blake2s {
 public:
  void update(std::span<const std::uint8_t> part);
  [[nodiscard]] Digest digest();  ///< once

 private:
  static constexpr std::size_t block_size = 64;

  std::array<std::uint32_t, 8> state_{blake2s_first_word, blake2s_initial[1], blake2s_initial[2], blake2s_initial[3],
                                      blake2s_initial[4], blake2s_initial[5], blake2s_initial[6], blake2s_initial[7]};
  std::array<std::uint8_t, block_size> block_{};
  std::size_t filled_ = 0;   // bytes of the block
  std::uint64_t count_ = 0;  // bytes in all, up to the end of the block
};

}  // namespace tessera
