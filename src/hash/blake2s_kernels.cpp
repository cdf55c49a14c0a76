#include "hash/blake2s_kernels.hpp"

#include <array>
#include <bit>
#include <utility>

#include "base/little_endian.hpp"
#include "hash/blake2s_constants.hpp"

// Where the compiler's vectors become instructions. In WebAssembly they would be single words again, more slowly.
#if (defined(__x86_64__) || defined(__aarch64__)) && defined(__GNUC__)
#define TESSERA_HASH_VECTORS
#include "hash/blake2s_vectors.hpp"
#endif

namespace tessera {
namespace {

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
  constexpr auto& s = blake2s_sigma[number];
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

void compress_words(std::uint32_t* state, std::span<const std::uint8_t> blocks, std::uint64_t count, bool last) {
  for (; !blocks.empty(); blocks = blocks.subspan(64), count += 64) {
    Words m{}, v{};
    for (std::size_t i = 0; i < m.size(); ++i) {
      m[i] = read_little_endian<std::uint32_t>(blocks.data() + 4 * i);
    }
    for (std::size_t i = 0; i < 8; ++i) {
      v[i] = state[i];
      v[i + 8] = blake2s_initial[i];
    }
    v[12] ^= static_cast<std::uint32_t>(count);
    v[13] ^= static_cast<std::uint32_t>(count >> 32U);
    v[14] ^= last && blocks.size() == 64 ? ~std::uint32_t{0} : 0;
    rounds(v, m, std::make_index_sequence<std::size(blake2s_sigma)>{});
    for (std::size_t i = 0; i < 8; ++i) {
      state[i] ^= v[i] ^ v[i + 8];
    }
  }
}

#if defined(TESSERA_HASH_VECTORS)
// A processor's basic set of instructions.
void compress_vectors(std::uint32_t* state, std::span<const std::uint8_t> blocks, std::uint64_t count, bool last) {
  compress_rows<false>(state, blocks, count, last);
}
void hash_four(const std::uint8_t* const* messages, std::size_t length, std::uint32_t* words) {
  hash_in_lanes<false, WordsOf<4>::Words>(messages, length, words);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void compress_avx2(std::uint32_t* state, std::span<const std::uint8_t> blocks,
                                           std::uint64_t count, bool last) {
  compress_rows<true>(state, blocks, count, last);
}
[[gnu::target("avx2")]] void hash_eight(const std::uint8_t* const* messages, std::size_t length, std::uint32_t* words) {
  hash_in_lanes<true, WordsOf<8>::Words>(messages, length, words);
}
#endif
#endif

// from the slowest to the fastest
constexpr Blake2sKernels kernels[] = {
    {"words", compress_words},
#if defined(TESSERA_HASH_VECTORS)
    {"vectors", compress_vectors, 4, hash_four},
#if defined(__x86_64__)
    {"AVX2", compress_avx2, 8, hash_eight},
#endif
#endif
};

}  // namespace

std::span<const Blake2sKernels> blake2s_kernels() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) {
    return std::span(kernels).first(std::size(kernels) - 1);
  }
#endif
  return kernels;
}

}  // namespace tessera
