#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <stdexcept>
#include "hash/blake2s_constants.hpp"
#include "base/shares.hpp"
#include "hash/merkle_tree.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hash/blake2s_prove.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<std::uint32_t>;
using V32 = hn::Vec<D32>;
using MessageWords = std::uint32_t[16][hn::MaxLanes(D32())];

/// Each lane's bytes turned right by `bytes`: one instruction where sets of vectors have no rotation.
template <int bytes>
HWY_INLINE V32 rotate_bytes_right(V32 v) {
#if HWY_TARGET == HWY_AVX2
  const D32 d;
  const hn::Repartition<std::uint8_t, D32> d8;
  constexpr auto from = [](int i) { return static_cast<std::uint8_t>(i / 4 * 4 + (i + bytes) % 4); };
  alignas(16) static constexpr std::uint8_t order[16] = {from(0),  from(1),  from(2),  from(3), from(4),  from(5),
                                                         from(6),  from(7),  from(8),  from(9), from(10), from(11),
                                                         from(12), from(13), from(14), from(15)};
  return hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(d8, v), hn::LoadDup128(d8, order)));
#else
  return hn::RotateRight<8 * bytes>(v);
#endif
}

template <int a, int b, int c, int d>
HWY_INLINE void mix(V32* v, V32 x, V32 y) {
  v[a] = hn::Add(hn::Add(v[a], v[b]), x);
  v[d] = rotate_bytes_right<2>(hn::Xor(v[d], v[a]));
  v[c] = hn::Add(v[c], v[d]);
  v[b] = hn::RotateRight<12>(hn::Xor(v[b], v[c]));
  v[a] = hn::Add(hn::Add(v[a], v[b]), y);
  v[d] = rotate_bytes_right<1>(hn::Xor(v[d], v[a]));
  v[c] = hn::Add(v[c], v[d]);
  v[b] = hn::RotateRight<7>(hn::Xor(v[b], v[c]));
}

/// One block; words[i] holds message word i of every lane.
HWY_INLINE void compress(V32* h, const MessageWords& words, std::uint64_t bytes, bool last) {
  const D32 d;
  V32 v[16];
  for (int i = 0; i < 8; ++i) {
    v[i] = h[i];
    v[i + 8] = hn::Set(d, blake2s_initial[i]);
  }
  v[12] = hn::Set(d, blake2s_initial[4] ^ static_cast<std::uint32_t>(bytes));
  v[13] = hn::Set(d, blake2s_initial[5] ^ static_cast<std::uint32_t>(bytes >> 32));
  v[14] = hn::Set(d, last ? ~blake2s_initial[6] : blake2s_initial[6]);
  // a loop over the rounds: all in one would not fit the registers any better, and compiles for minutes with sanitizers
  for (const auto& order : blake2s_sigma) {
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

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void load_block(const std::uint8_t* messages, std::size_t /*stride*/, MessageWords& words) {
  std::memcpy(words, messages, 64);
}
#else
/// 16 bytes of every fourth lane from messages[0] on, one after the other.
template <class D>
HWY_INLINE hn::Vec<D> load_pieces(D d, const std::uint8_t* messages, std::size_t stride) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    const hn::Repartition<std::uint8_t, D> d8;
    return hn::BitCast(d, hn::LoadU(d8, messages));
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_pieces(half, messages + hn::MaxLanes(half) * stride, stride),
                       load_pieces(half, messages, stride));
  }
}

/// words[i] := message word i of every lane.
HWY_INLINE void load_block(const std::uint8_t* messages, std::size_t stride, MessageWords& words) {
  const D32 d;
  const hn::Repartition<std::uint64_t, D32> d64;
  for (std::size_t word = 0; word < 16; word += 4) {
    // 4 x 4 transposes inside 128-bit blocks: block b of row j has four words of lane 4b + j
    const V32 r0 = load_pieces(d, messages + 4 * word, stride);
    const V32 r1 = load_pieces(d, messages + stride + 4 * word, stride);
    const V32 r2 = load_pieces(d, messages + 2 * stride + 4 * word, stride);
    const V32 r3 = load_pieces(d, messages + 3 * stride + 4 * word, stride);
    const auto low01 = hn::BitCast(d64, hn::InterleaveLower(d, r0, r1));
    const auto low23 = hn::BitCast(d64, hn::InterleaveLower(d, r2, r3));
    const auto high01 = hn::BitCast(d64, hn::InterleaveUpper(d, r0, r1));
    const auto high23 = hn::BitCast(d64, hn::InterleaveUpper(d, r2, r3));
    hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, low01, low23)), d, words[word]);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, low01, low23)), d, words[word + 1]);
    hn::Store(hn::BitCast(d, hn::InterleaveLower(d64, high01, high23)), d, words[word + 2]);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(d64, high01, high23)), d, words[word + 3]);
  }
}
#endif

/// Goes on with the messages of all lanes, `stride` bytes apart: `length` bytes more after the first `absorbed`. State
/// word i of a lane stands at 4 * (i * lanes + lane).
void absorb_lanes(const std::uint8_t* messages, std::size_t stride, std::size_t length, std::uint64_t absorbed,
                  bool last, std::uint8_t* state) {
  const D32 d;
  HWY_ALIGN MessageWords words;
  if (absorbed > 0) {  // else nothing was written there, and reading would take the page twice
    std::memcpy(words, state, sizeof(words) / 2);
  }
  V32 h[8];
  for (int i = 0; i < 8; ++i) {
    h[i] = absorbed > 0 ? hn::Load(d, words[i]) : hn::Set(d, i == 0 ? blake2s_first_word : blake2s_initial[i]);
  }
  for (std::size_t at = 0; at < length; at += 64) {
    load_block(messages + at, stride, words);
    compress(h, words, absorbed + at + 64, last && at + 64 == length);
  }
  for (int i = 0; i < 8; ++i) {
    hn::Store(h[i], d, words[i]);
  }
  std::memcpy(state, words, sizeof(words) / 2);
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
    h[i] = hn::Set(d, i == 0 ? blake2s_first_word : blake2s_initial[i]);
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
HWY_EXPORT(absorb_lanes);
HWY_EXPORT(hash_nonces);
HWY_EXPORT(hash_lane_count);

static_assert(std::endian::native == std::endian::little, "field elements and message words are hashed as stored");

namespace {

std::size_t lane_count() { return HWY_DYNAMIC_DISPATCH(hash_lane_count)(); }

/// absorb_lanes for a group in which only `count` lanes have a message.
void absorb_messages(const std::uint8_t* messages, std::size_t stride, std::size_t length, std::size_t count,
                     std::uint64_t absorbed, bool last, std::uint8_t* state) {
  const std::size_t lanes = lane_count();
  if (count >= lanes) {
    HWY_DYNAMIC_DISPATCH(absorb_lanes)(messages, stride, length, absorbed, last, state);
    return;
  }
  std::vector<std::uint8_t> filled(lanes * length);
  for (std::size_t lane = 0; lane < count; ++lane) {
    std::memcpy(filled.data() + lane * length, messages + lane * stride, length);
  }
  HWY_DYNAMIC_DISPATCH(absorb_lanes)(filled.data(), length, length, absorbed, last, state);
}

void write_digests(const std::uint8_t* state, std::span<Digest> digests) {
  const std::size_t lanes = lane_count();
  for (std::size_t lane = 0; lane < digests.size(); ++lane) {
    for (std::size_t i = 0; i < 8; ++i) {
      std::memcpy(digests[lane].data() + 4 * i, state + 4 * (i * lanes + lane), 4);
    }
  }
}

constexpr std::size_t most_lanes = 64;
using GroupState = std::array<std::uint8_t, most_lanes * sizeof(Digest)>;

/// The digests of as many messages as a vector has lanes, from `first` on.
void hash_group(std::span<const std::uint8_t> messages, std::size_t length, std::size_t first,
                std::span<Digest> digests) {
  GroupState state{};
  const std::size_t count = std::min(lane_count(), digests.size() - first);
  absorb_messages(messages.data() + first * length, length, length, count, 0, true, state.data());
  write_digests(state.data(), digests.subspan(first, count));
}

}  // namespace

void blake2s_many(std::span<const std::uint8_t> messages, std::size_t length, std::span<Digest> digests) {
  assert(length > 0 && length % 64 == 0 && messages.size() == length * digests.size());
#pragma omp parallel for schedule(dynamic, share_of(digests.size() / lane_count())) if (digests.size() >= 256)
  for (std::size_t first = 0; first < digests.size(); first += lane_count()) {
    hash_group(messages, length, first, digests);
  }
}

void blake2s_lanes(std::span<const std::uint8_t> messages, std::size_t length, std::span<Digest> digests) {
  assert(length > 0 && length % 64 == 0 && messages.size() == length * digests.size());
  for (std::size_t first = 0; first < digests.size(); first += lane_count()) {
    hash_group(messages, length, first, digests);
  }
}

ColumnHasher::ColumnHasher(std::size_t columns, std::size_t leaf_bytes)
    : columns_(columns), leaf_bytes_(leaf_bytes), state_((columns + lane_count() - 1) / lane_count() * lane_count()) {}

void ColumnHasher::absorb(std::span<const std::uint8_t> parts, std::size_t length) {
  assert(length > 0 && length % 64 == 0 && parts.size() == length * columns_ && absorbed_ + length <= leaf_bytes_);
  const std::size_t lanes = lane_count();
#pragma omp parallel for schedule(dynamic, share_of(columns_ / lanes))
  for (std::size_t first = 0; first < columns_; first += lanes) {
    absorb_group(first, parts.data() + first * length, length);
  }
  absorbed(length);
}

void ColumnHasher::absorb_group(std::size_t first, const std::uint8_t* parts, std::size_t length) {
  const bool last = absorbed_ + length == leaf_bytes_;
  std::uint8_t* const state = state_[first].data();
  const std::size_t count = std::min(lane_count(), columns_ - first);
  absorb_messages(parts, length, length, count, absorbed_, last, state);
  if (last) {
    GroupState done;
    std::copy_n(state, lane_count() * sizeof(Digest), done.begin());
    write_digests(done.data(), std::span(state_).subspan(first, count));
  }
}

std::size_t ColumnHasher::side_by_side() { return lane_count(); }

TreeLevel ColumnHasher::digests() && {
  assert(absorbed_ == leaf_bytes_);
  state_.resize(columns_);
  return std::move(state_);
}

std::optional<std::uint64_t> find_nonce(const Digest& state, unsigned bits, std::uint64_t first, std::uint64_t count) {
  if (bits > 32) {
    throw std::invalid_argument("find_nonce: at most 32 bits of work");
  }
  constexpr std::size_t message_bytes = 1 + sizeof(Digest) + sizeof(std::uint64_t);
  std::array<std::uint8_t, 64> message{4};
  std::ranges::copy(state, message.begin() + 1);
  std::array<std::uint32_t, 16> block;
  std::memcpy(block.data(), message.data(), message.size());
  // not the pointer: before the first call of any kernel it is a detour that asks the processor each time
  const auto hash = [](auto... arguments) { return HWY_DYNAMIC_DISPATCH(hash_nonces)(arguments...); };
  const std::size_t lanes = lane_count();
  std::uint64_t least = UINT64_MAX;
#pragma omp parallel for schedule(static) reduction(min : least)
  for (std::uint64_t nonce = first; nonce < first + count; nonce += lanes) {
    std::array<std::uint32_t, 64> leading;
    hash(block.data(), nonce, message_bytes, leading.data());
    for (std::size_t lane = lanes; lane-- > 0;) {
      if (static_cast<unsigned>(std::countl_zero(leading[lane])) >= bits) {
        least = std::min(least, nonce + lane);
      }
    }
  }
  return least == UINT64_MAX ? std::nullopt : std::optional(least);
}

}  // namespace tessera
#endif  // HWY_ONCE
