// Products of 16-bit integers in 32-bit sums, compiled once for every instruction set (see Highway's foreach_target.h):
// include it from a file that is itself such an include.
#if defined(TESSERA_PAIR_PRODUCTS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_PAIR_PRODUCTS_INL
#undef TESSERA_PAIR_PRODUCTS_INL
#else
#define TESSERA_PAIR_PRODUCTS_INL
#endif

#include "field/instruction_set-inl.hpp"

#include <hwy/highway.h>

#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Sums = hn::CappedTag<std::int32_t, 16>;
using S = hn::Vec<Sums>;  // of 32 bits, or of pairs of 16 bits each

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE S load_pairs(const std::int16_t* from) {
  S pairs;
  std::memcpy(&pairs, from, sizeof(S));
  return pairs;
}
HWY_INLINE void store_pairs(S pairs, std::int16_t* to) { std::memcpy(to, &pairs, sizeof(S)); }
#else
// A vector is loaded and stored whole: of std::memcpy a compiler may make two copies of half a vector through the
// stack, and the read of the whole waits for both.
using Halves = hn::Repartition<std::int16_t, Sums>;
HWY_INLINE S load_pairs(const std::int16_t* from) { return hn::BitCast(Sums(), hn::LoadU(Halves(), from)); }
HWY_INLINE void store_pairs(S pairs, std::int16_t* to) { hn::StoreU(hn::BitCast(Halves(), pairs), Halves(), to); }
#endif

/// Lane by lane sum + a.low*b.low + a.high*b.high.
HWY_INLINE S add_products_of_pairs(S sum, S a, S b) {
#if defined(TESSERA_IFMA)
  // as an intrinsic gcc moves sums between registers at every step, which takes as long as the products
  asm("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
#elif HWY_TARGET <= HWY_AVX3
  return hn::Add(sum, S{_mm512_madd_epi16(a.raw, b.raw)});
#elif HWY_TARGET == HWY_AVX2
  const __m256i products = _mm256_madd_epi16(a.raw, b.raw);
  asm("vpaddd %1, %0, %0" : "+x"(sum.raw) : "x"(products));  // likewise
  return sum;
#elif HWY_TARGET == HWY_SSE2
  return hn::Add(sum, S{_mm_madd_epi16(a.raw, b.raw)});
#elif HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
  const int16x8_t x = vreinterpretq_s16_s32(a.raw);
  const int16x8_t y = vreinterpretq_s16_s32(b.raw);
  const int32x4_t products_below = vmull_s16(vget_low_s16(x), vget_low_s16(y));
  return hn::Add(sum, S{vpaddq_s32(products_below, vmull_high_s16(x, y))});
#else
  const auto low = [](S x) { return hn::ShiftRight<16>(hn::ShiftLeft<16>(x)); };
  const auto high = [](S x) { return hn::ShiftRight<16>(x); };
  return hn::Add(sum, hn::Add(hn::Mul(low(a), low(b)), hn::Mul(high(a), high(b))));
#endif
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
