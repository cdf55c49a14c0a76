#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tessera {

/// A way to compute BLAKE2s-256 on one processor core; all give the same digests.
struct Blake2sKernels {
  std::string_view name;
  /// Takes whole blocks of one message into its state of 8 words: `count` is the number of the message's bytes up to
  /// the end of the first of them, `last` says that the last of them is the message's.
  void (*compress)(std::uint32_t* state, std::span<const std::uint8_t> blocks, std::uint64_t count, bool last);
  /// Messages that hash_lanes() takes side by side; 1: it is missing, as there is nothing faster than one by one.
  std::size_t lanes = 1;
  /// Digests of `lanes` messages of one length; word i of a lane's digest becomes words[i * lanes + lane].
  void (*hash_lanes)(const std::uint8_t* const* messages, std::size_t length, std::uint32_t* words) = nullptr;
};

/// The ways that this processor has, the fastest last. Calls nothing that a confined process may not call.
std::span<const Blake2sKernels> blake2s_kernels();

}  // namespace tessera
