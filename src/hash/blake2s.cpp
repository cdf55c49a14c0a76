#include "hash/blake2s.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/little_endian.hpp"

namespace tessera {
namespace {

constexpr std::array<std::uint32_t, 8> initial{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

constexpr std::uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

using Words = std::array<std::uint32_t, 16>;

inline void mix(Words& v, unsigned a, unsigned b, unsigned c, unsigned d, std::uint32_t x, std::uint32_t y) {
  v[a] += v[b] + x;
  v[d] = std::rotr(v[d] ^ v[a], 16);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 12);
  v[a] += v[b] + y;
  v[d] = std::rotr(v[d] ^ v[a], 8);
  v[c] += v[d];
  v[b] = std::rotr(v[b] ^ v[c], 7);
}

/// The number of the round is a constant: places of words are, too, which makes it almost twice as fast.
template <std::size_t number>
void round(Words& v, const Words& m) {
  constexpr auto& s = sigma[number];
  mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
  mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
  mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
  mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
  mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
  mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
  mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
  mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
}

template <std::size_t... numbers>
void rounds(Words& v, const Words& m, std::index_sequence<numbers...> /*all*/) {
  (round<numbers>(v, m), ...);
}

}  // namespace

void Blake2s::compress(bool last) {
  Words m{};
  for (std::size_t i = 0; i < m.size(); ++i) {
    m[i] = read_little_endian<std::uint32_t>(block_.data() + 4 * i);
  }
  Words v{};
  std::ranges::copy(state_, v.begin());
  std::ranges::copy(initial, v.begin() + 8);
  v[12] ^= static_cast<std::uint32_t>(count_);
  v[13] ^= static_cast<std::uint32_t>(count_ >> 32U);
  v[14] ^= last ? ~std::uint32_t{0} : 0;
  rounds(v, m, std::make_index_sequence<std::size(sigma)>{});
  for (std::size_t i = 0; i < state_.size(); ++i) {
    state_[i] ^= v[i] ^ v[i + 8];
  }
}

void Blake2s::update(std::span<const std::uint8_t> part) {
  while (!part.empty()) {
    if (filled_ == block_size) {  // only now: the last block is another one
      compress(false);
      filled_ = 0;
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
  compress(true);
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

}  // namespace tessera
