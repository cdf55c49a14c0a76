#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <stdexcept>
#include <tessera/commitment/merkle_tree.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "commitment/blake2s_prove.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::uint32_t>;
using V32 = hn::Vec<D32>;
using MessageWords = std::uint32_t[16][hn::MaxLanes(D32())];

template <int a, int b, int c, int d>
HWY_INLINE void mix(V32* v, V32 x, V32 y) {
  v[a] = hn::Add(hn::Add(v[a], v[b]), x);
  v[d] = hn::RotateRight<16>(hn::Xor(v[d], v[a]));
  v[c] = hn::Add(v[c], v[d]);
  v[b] = hn::RotateRight<12>(hn::Xor(v[b], v[c]));
  v[a] = hn::Add(hn::Add(v[a], v[b]), y);
  v[d] = hn::RotateRight<8>(hn::Xor(v[d], v[a]));
  v[c] = hn::Add(v[c], v[d]);
  v[b] = hn::RotateRight<7>(hn::Xor(v[b], v[c]));
}

// order of the message words in each round
constexpr std::uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

constexpr std::uint32_t initial[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                      0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};

/// One block; words[i] holds message word i of every lane.
HWY_INLINE void compress(V32* h, const MessageWords& words, std::uint64_t bytes, bool last) {
  const D32 d;
  V32 v[16];
  for (int i = 0; i < 8; ++i) {
    v[i] = h[i];
    v[i + 8] = hn::Set(d, initial[i]);
  }
  v[12] = hn::Set(d, initial[4] ^ static_cast<std::uint32_t>(bytes));
  v[13] = hn::Set(d, initial[5] ^ static_cast<std::uint32_t>(bytes >> 32));
  v[14] = hn::Set(d, last ? ~initial[6] : initial[6]);
  // a loop over the rounds: all in one would not fit the registers any better, and compiles for minutes with sanitizers
  for (const auto& order : sigma) {
    const auto word = [&](int i) HWY_ATTR { return hn::Load(d, words[order[i]]); };
    mix<0, 4, 8, 12>(v, word(0), word(1));
    mix<1, 5, 9, 13>(v, word(2), word(3));
    mix<2, 6, 10, 14>(v, word(4), word(5));
    mix<3, 7, 11, 15>(v, word(6), word(7));
    mix<0, 5, 10, 15>(v, word(8), word(9));
    mix<1, 6, 11, 12>(v, word(10), word(11));
    mix<2, 7, 8, 13>(v, word(12), word(13));
    mix<3, 4, 9, 14>(v, word(14), word(15));
  }
  for (int i = 0; i < 8; ++i) {
    h[i] = hn::Xor(h[i], hn::Xor(v[i], v[i + 8]));
  }
}

/// One message a lane; lanes beyond `count` repeat the last message.
void hash_lanes(const std::uint8_t* messages, std::size_t length, std::size_t count, Digest* digests) {
  const D32 d;
  const std::size_t lanes = hn::Lanes(d);
  HWY_ALIGN MessageWords words;
  V32 h[8];
  for (int i = 0; i < 8; ++i) {
    h[i] = hn::Set(d, i == 0 ? initial[0] ^ 0x01010020U : initial[i]);
  }
  for (std::size_t at = 0; at < length; at += 64) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      std::uint32_t block[16];
      std::memcpy(block, messages + (lane < count ? lane : count - 1) * length + at, 64);
      for (std::size_t i = 0; i < 16; ++i) {
        words[i][lane] = block[i];
      }
    }
    compress(h, words, at + 64, at + 64 == length);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    hn::Store(h[i], d, words[i]);
  }
  for (std::size_t lane = 0; lane < lanes && lane < count; ++lane) {
    for (std::size_t i = 0; i < 8; ++i) {
      std::memcpy(digests[lane].data() + 4 * i, &words[i][lane], 4);
    }
  }
}

/// First 32 bits (big endian) of the hash of a message of `bytes` <= 64 bytes in each lane, where the lane's 64-bit
/// nonce starts at byte 33: after one byte and a digest.
void hash_nonces(const std::uint32_t* block, std::uint64_t first_nonce, std::size_t bytes, std::uint32_t* leading) {
  const D32 d;
  HWY_ALIGN MessageWords words;
  for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
    const std::uint64_t nonce = first_nonce + lane;
    for (std::size_t i = 0; i < 16; ++i) {
      words[i][lane] = block[i];
    }
    words[8][lane] |= static_cast<std::uint32_t>(nonce << 8);
    words[9][lane] = static_cast<std::uint32_t>(nonce >> 24);
    words[10][lane] = static_cast<std::uint32_t>(nonce >> 56);
  }
  V32 h[8];
  for (int i = 0; i < 8; ++i) {
    h[i] = hn::Set(d, i == 0 ? initial[0] ^ 0x01010020U : initial[i]);
  }
  compress(h, words, bytes, true);
  hn::Store(h[0], d, words[0]);
  for (std::size_t lane = 0; lane < hn::Lanes(d); ++lane) {
    leading[lane] = __builtin_bswap32(words[0][lane]);
  }
}

std::size_t hash_lane_count() { return hn::Lanes(D32()); }

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(hash_lanes);
HWY_EXPORT(hash_nonces);
HWY_EXPORT(hash_lane_count);

static_assert(std::endian::native == std::endian::little, "field elements and message words are hashed as stored");

void blake2s_many(std::span<const std::uint8_t> messages, std::size_t length, std::span<Digest> digests) {
  assert(length > 0 && length % 64 == 0 && messages.size() == length * digests.size());
  // not the pointer: before the first call of any kernel it is a detour that asks the processor each time
  const auto hash = [](auto... arguments) { return HWY_DYNAMIC_DISPATCH(hash_lanes)(arguments...); };
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(hash_lane_count)();
#pragma omp parallel for schedule(static) if (digests.size() >= 256)
  for (std::size_t first = 0; first < digests.size(); first += lanes) {
    hash(messages.data() + first * length, length, std::min(lanes, digests.size() - first), digests.data() + first);
  }
}

std::uint64_t find_nonce(const Digest& state, unsigned bits) {
  if (bits > 32) {
    throw std::invalid_argument("find_nonce: at most 32 bits of work");
  }
  constexpr std::size_t message_bytes = 1 + sizeof(Digest) + sizeof(std::uint64_t);
  constexpr std::uint64_t batch = 1 << 14;
  std::array<std::uint8_t, 64> message{4};
  std::ranges::copy(state, message.begin() + 1);
  std::array<std::uint32_t, 16> block;
  std::memcpy(block.data(), message.data(), message.size());
  // not the pointer: before the first call of any kernel it is a detour that asks the processor each time
  const auto hash = [](auto... arguments) { return HWY_DYNAMIC_DISPATCH(hash_nonces)(arguments...); };
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(hash_lane_count)();
  for (std::uint64_t start = 0;; start += batch) {
    std::uint64_t least = UINT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : least)
    for (std::uint64_t first = start; first < start + batch; first += lanes) {
      std::array<std::uint32_t, 64> leading;
      hash(block.data(), first, message_bytes, leading.data());
      for (std::size_t lane = lanes; lane-- > 0;) {
        if (static_cast<unsigned>(std::countl_zero(leading[lane])) >= bits) {
          least = std::min(least, first + lane);
        }
      }
    }
    if (least != UINT64_MAX) {
      return least;
    }
  }
}

}  // namespace tessera
#endif  // HWY_ONCE
