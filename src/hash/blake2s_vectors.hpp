#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "hash/blake2s_constants.hpp"

/// \file
/// BLAKE2s in the compiler's vectors, whatever instructions become of them: functions here are compiled inside a kernel
/// for one set of instructions (blake2s_kernels.cpp). Vectors are passed by reference, as how they are passed by value
/// depends on the set.

namespace tessera {

static_assert(std::endian::native == std::endian::little, "words of messages are hashed as stored");

template <std::size_t lanes>
struct WordsOf;
template <>
struct WordsOf<4> {
  using Words [[gnu::vector_size(16)]] = std::uint32_t;
  using Bytes [[gnu::vector_size(16)]] = std::uint8_t;
};
template <>
struct WordsOf<8> {
  using Words [[gnu::vector_size(32)]] = std::uint32_t;
  using Bytes [[gnu::vector_size(32)]] = std::uint8_t;
};

template <class V>
inline constexpr std::size_t lanes_of = sizeof(V) / sizeof(std::uint32_t);

/// Each word turned right by 16 or 8 bits, as bytes: one instruction where there is one for any order of bytes.
template <int bits, class V, std::size_t... byte>
[[gnu::always_inline]] inline void turn_bytes(V& v, std::index_sequence<byte...> /*all*/) {
  using Bytes = typename WordsOf<lanes_of<V>>::Bytes;
  const auto bytes = reinterpret_cast<Bytes>(v);
  v = reinterpret_cast<V>(__builtin_shufflevector(bytes, bytes, (byte / 4 * 4 + (byte + bits / 8) % 4)...));
}

/// Each word turned right. `by_bytes`: where any order of bytes is one instruction.
template <bool by_bytes, int bits, class V>
[[gnu::always_inline]] inline void turn_right(V& v) {
  if constexpr (by_bytes && bits % 8 == 0) {
    turn_bytes<bits>(v, std::make_index_sequence<sizeof(V)>{});
  } else {
    v = (v >> bits) | (v << (32 - bits));
  }
}

/// RFC 7693's G. b comes last, so the sum with the message does not wait for it.
template <bool by_bytes, class V>
[[gnu::always_inline]] inline void mix_words(V& a, V& b, V& c, V& d, const V& x, const V& y) {
  a += x;
  a += b;
  d ^= a;
  turn_right<by_bytes, 16>(d);
  c += d;
  b ^= c;
  turn_right<by_bytes, 12>(b);
  a += y;
  a += b;
  d ^= a;
  turn_right<by_bytes, 8>(d);
  c += d;
  b ^= c;
  turn_right<by_bytes, 7>(b);
}

// ---- one message: a vector is a row of the state's four

using Row = WordsOf<4>::Words;

/// Lane i becomes what lane i + by was.
template <int by>
[[gnu::always_inline]] inline void turn_row(Row& row) {
  row = __builtin_shufflevector(row, row, by, (by + 1) % 4, (by + 2) % 4, (by + 3) % 4);
}

/// Columns, then diagonals. b stays where it is between them, and the rows that are ready before it turn.
template <bool by_bytes, std::size_t number>
[[gnu::always_inline]] inline void mix_rows(Row& a, Row& b, Row& c, Row& d, const std::uint32_t* m) {
  constexpr auto& s = blake2s_sigma[number];
  mix_words<by_bytes>(a, b, c, d, Row{m[s[0]], m[s[2]], m[s[4]], m[s[6]]}, Row{m[s[1]], m[s[3]], m[s[5]], m[s[7]]});
  turn_row<3>(a), turn_row<1>(c), turn_row<2>(d);
  mix_words<by_bytes>(a, b, c, d, Row{m[s[14]], m[s[8]], m[s[10]], m[s[12]]},
                      Row{m[s[15]], m[s[9]], m[s[11]], m[s[13]]});
  turn_row<1>(a), turn_row<3>(c), turn_row<2>(d);
}

template <bool by_bytes, std::size_t... numbers>
[[gnu::always_inline]] inline void mix_all_rows(Row& a, Row& b, Row& c, Row& d, const std::uint32_t* m,
                                                std::index_sequence<numbers...> /*all*/) {
  (mix_rows<by_bytes, numbers>(a, b, c, d, m), ...);
}

/// Blake2sKernels::compress.
template <bool by_bytes>
[[gnu::always_inline]] inline void compress_rows(std::uint32_t* state, std::span<const std::uint8_t> blocks,
                                                 std::uint64_t count, bool last) {
  constexpr auto& initial = blake2s_initial;
  Row low, high;
  std::memcpy(&low, state, sizeof low);
  std::memcpy(&high, state + 4, sizeof high);
  for (std::size_t at = 0; at < blocks.size(); at += 64) {
    std::uint32_t m[16];
    std::memcpy(m, blocks.data() + at, sizeof m);
    const std::uint64_t bytes = count + at;
    const std::uint32_t end = last && at + 64 == blocks.size() ? ~std::uint32_t{0} : 0;
    Row a = low, b = high;
    Row c{initial[0], initial[1], initial[2], initial[3]};
    Row d{initial[4] ^ static_cast<std::uint32_t>(bytes), initial[5] ^ static_cast<std::uint32_t>(bytes >> 32U),
          initial[6] ^ end, initial[7]};
    mix_all_rows<by_bytes>(a, b, c, d, m, std::make_index_sequence<std::size(blake2s_sigma)>{});
    low ^= a ^ c;
    high ^= b ^ d;
  }
  std::memcpy(state, &low, sizeof low);
  std::memcpy(state + 4, &high, sizeof high);
}

// ---- many messages: a vector is one word of the state of each

/// Transposes four rows of four words in each 16 bytes of vectors.
template <class V, std::size_t... lane>
[[gnu::always_inline]] inline void transpose(const V* rows, V* columns, std::index_sequence<lane...> /*all*/) {
  constexpr std::size_t lanes = lanes_of<V>;
  // of lane 4k + i of the result, the lane of the first vector or, lanes more, of the second one
  constexpr auto words = [](std::size_t to, std::size_t from) {
    return to / 4 * 4 + to % 4 / 2 + from + to % 2 * lanes;
  };
  constexpr auto pairs = [](std::size_t to, std::size_t from) {
    return to / 4 * 4 + to % 2 + from + to % 4 / 2 * lanes;
  };
  const V low01 = __builtin_shufflevector(rows[0], rows[1], words(lane, 0)...);
  const V low23 = __builtin_shufflevector(rows[2], rows[3], words(lane, 0)...);
  const V high01 = __builtin_shufflevector(rows[0], rows[1], words(lane, 2)...);
  const V high23 = __builtin_shufflevector(rows[2], rows[3], words(lane, 2)...);
  columns[0] = __builtin_shufflevector(low01, low23, pairs(lane, 0)...);
  columns[1] = __builtin_shufflevector(low01, low23, pairs(lane, 2)...);
  columns[2] = __builtin_shufflevector(high01, high23, pairs(lane, 0)...);
  columns[3] = __builtin_shufflevector(high01, high23, pairs(lane, 2)...);
}

/// 16 bytes of every fourth message from the first one on, put together in registers: as parts of a vector in memory
/// they would be read before they are written.
template <class V>
[[gnu::always_inline]] inline void load_row(V& row, const std::uint8_t* const* messages, std::size_t at) {
  WordsOf<4>::Words low;
  std::memcpy(&low, messages[0] + at, sizeof low);
  if constexpr (lanes_of<V> == 4) {
    row = low;
  } else {
    WordsOf<4>::Words high;
    std::memcpy(&high, messages[4] + at, sizeof high);
    row = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  }
}

/// m[i] := word i, from byte `at` on, of every message.
template <class V>
[[gnu::always_inline]] inline void load_lanes(V* m, const std::uint8_t* const* messages, std::size_t at) {
  for (std::size_t word = 0; word < 16; word += 4) {
    V rows[4]{};
    for (std::size_t j = 0; j < 4; ++j) {
      load_row(rows[j], messages + j, at + 4 * word);
    }
    transpose(rows, m + word, std::make_index_sequence<lanes_of<V>>{});
  }
}

/// One block of every message, of whose bytes `count` end with it.
template <bool by_bytes, class V>
[[gnu::always_inline]] inline void compress_lanes(V* state, const V* m, std::uint64_t count, bool last) {
  constexpr auto& initial = blake2s_initial;
  const V none{};
  V v[16] = {state[0],          state[1],          state[2],          state[3],
             state[4],          state[5],          state[6],          state[7],
             none + initial[0], none + initial[1], none + initial[2], none + initial[3],
             none + initial[4], none + initial[5], none + initial[6], none + initial[7]};
  v[12] ^= static_cast<std::uint32_t>(count);
  v[13] ^= static_cast<std::uint32_t>(count >> 32U);
  v[14] ^= last ? ~std::uint32_t{0} : 0;
  for (const auto& s : blake2s_sigma) {
    mix_words<by_bytes>(v[0], v[4], v[8], v[12], m[s[0]], m[s[1]]);
    mix_words<by_bytes>(v[1], v[5], v[9], v[13], m[s[2]], m[s[3]]);
    mix_words<by_bytes>(v[2], v[6], v[10], v[14], m[s[4]], m[s[5]]);
    mix_words<by_bytes>(v[3], v[7], v[11], v[15], m[s[6]], m[s[7]]);
    mix_words<by_bytes>(v[0], v[5], v[10], v[15], m[s[8]], m[s[9]]);
    mix_words<by_bytes>(v[1], v[6], v[11], v[12], m[s[10]], m[s[11]]);
    mix_words<by_bytes>(v[2], v[7], v[8], v[13], m[s[12]], m[s[13]]);
    mix_words<by_bytes>(v[3], v[4], v[9], v[14], m[s[14]], m[s[15]]);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    state[i] ^= v[i] ^ v[i + 8];
  }
}

/// Blake2sKernels::hash_lanes, of as many messages as V has lanes.
template <bool by_bytes, class V>
[[gnu::always_inline]] inline void hash_in_lanes(const std::uint8_t* const* messages, std::size_t length,
                                                 std::uint32_t* words) {
  constexpr std::size_t lanes = lanes_of<V>;
  constexpr auto& initial = blake2s_initial;
  const V none{};
  V state[8] = {none + blake2s_first_word, none + initial[1], none + initial[2], none + initial[3],
                none + initial[4],         none + initial[5], none + initial[6], none + initial[7]};
  V m[16];
  const std::size_t before_last = length == 0 ? 0 : (length - 1) / 64 * 64;
  for (std::size_t at = 0; at < before_last; at += 64) {
    load_lanes(m, messages, at);
    compress_lanes<by_bytes>(state, m, at + 64, false);
  }
  std::uint8_t ends[lanes][64]{};  // the last block of each, which may be shorter
  const std::uint8_t* places[lanes];
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    std::copy(messages[lane] + before_last, messages[lane] + length, ends[lane]);
    places[lane] = ends[lane];
  }
  load_lanes(m, places, 0);
  compress_lanes<by_bytes>(state, m, length, true);
  std::memcpy(words, state, sizeof state);
}

}  // namespace tessera
