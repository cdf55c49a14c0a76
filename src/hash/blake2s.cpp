#include "hash/blake2s.hpp"

#include <algorithm>

#include "hash/blake2s_kernels.hpp"

namespace tessera {

void Blake2s::update(std::span<const std::uint8_t> part) {
  const auto compress = blake2s_kernels().back().compress;
  while (!part.empty()) {
    if (filled_ == block_size) {  // only now: the last block is another one
      compress(state_.data(), block_, count_, false);
      filled_ = 0;
    }
    if (filled_ == 0 && part.size() > block_size) {  // blocks that lie side by side, but for the last one
      const std::size_t size = (part.size() - 1) / block_size * block_size;
      compress(state_.data(), part.first(size), count_ + block_size, false);
      count_ += size;
      part = part.subspan(size);
    }
    const std::size_t size = std::min(part.size(), block_size - filled_);
    std::ranges::copy(part.first(size), block_.begin() + static_cast<std::ptrdiff_t>(filled_));
    filled_ += size;
    count_ += size;
    part = part.subspan(size);
  }
}

Digest Blake2s::digest() {
  std::fill(block_.begin() + static_cast<std::ptrdiff_t>(filled_), block_.end(), std::uint8_t{0});
  blake2s_kernels().back().compress(state_.data(), block_, count_, true);
  Digest result{};
  for (std::size_t i = 0; i < result.size(); ++i) {
    result[i] = static_cast<std::uint8_t>(state_[i / 4] >> (8 * (i % 4)));
  }
  return result;
}

Digest blake2s(std::span<const std::uint8_t> message) {
  Blake2s hash;
  hash.update(message);
  return hash.digest();
}

namespace {

constexpr std::size_t most_lanes = 8;

/// Digests of at most as many messages as are hashed side by side.
void hash_together(const Blake2sKernels& kernels, std::span<const std::uint8_t> messages, std::size_t length,
                   std::span<Digest> digests) {
  std::array<const std::uint8_t*, most_lanes> places{};
  for (std::size_t lane = 0; lane < kernels.lanes; ++lane) {  // what is left over hashes the first one again
    places[lane] = messages.data() + (lane < digests.size() ? lane * length : 0);
  }
  std::array<std::uint32_t, most_lanes * sizeof(Digest) / 4> words{};
  kernels.hash_lanes(places.data(), length, words.data());
  for (std::size_t lane = 0; lane < digests.size(); ++lane) {
    for (std::size_t i = 0; i < sizeof(Digest); ++i) {
      digests[lane][i] = static_cast<std::uint8_t>(words[i / 4 * kernels.lanes + lane] >> (8 * (i % 4)));
    }
  }
}

}  // namespace

void blake2s_each(const Blake2sKernels& kernels, std::span<const std::uint8_t> messages, std::size_t length,
                  std::span<Digest> digests) {
  std::size_t done = 0;
  while (done < digests.size()) {
    const std::size_t count = std::min(kernels.lanes, digests.size() - done);
    const std::span<const std::uint8_t> some = messages.subspan(done * length, count * length);
    const std::span<Digest> to = digests.subspan(done, count);
    if (count > 1) {
      hash_together(kernels, some, length, to);
    } else {
      to.front() = blake2s(some);
    }
    done += count;
  }
}

void blake2s_each(std::span<const std::uint8_t> messages, std::size_t length, std::span<Digest> digests) {
  blake2s_each(blake2s_kernels().back(), messages, length, digests);
}

}  // namespace tessera
