// Arithmetic in E on vectors that hold the coordinates side by side, c0 c1 c0 c1 ..., as E lies in memory: no shuffle
// on loading, two in a product. Compiled once for every instruction set, like vector_extension-inl.hpp.
#if defined(TESSERA_VECTOR_INTERLEAVED_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_VECTOR_INTERLEAVED_INL
#undef TESSERA_VECTOR_INTERLEAVED_INL
#else
#define TESSERA_VECTOR_INTERLEAVED_INL
#endif

#include "field/vector_extension-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

/// Elements of E in a vector.
HWY_INLINE std::size_t elements_per_vector() { return hn::Lanes(Lanes()) / 2; }

HWY_INLINE V load_elements(const E* from) { return hn::LoadU(Lanes(), reinterpret_cast<const std::uint64_t*>(from)); }
HWY_INLINE void store_elements(V elements, E* to) {
  hn::StoreU(elements, Lanes(), reinterpret_cast<std::uint64_t*>(to));
}

/// A right factor (b0, b1) of products, and (7*b1, b0) beside it.
struct ElementFactor {
  V straight;
  V crossed;
};
HWY_INLINE V repeat_element(F c0, F c1) { return hn::OddEven(constant(c1.value()), constant(c0.value())); }
HWY_INLINE ElementFactor element_factor(E b) {
  return {repeat_element(b.c0, b.c1), repeat_element(b.c1 * F::from_canonical(E::non_residue), b.c0)};
}
HWY_INLINE ElementFactor element_factor(V b) {
  const V swapped = hn::Shuffle01(b);
  return {b, hn::OddEven(swapped, times_seven(swapped))};
}

/// a*b before reduction.
HWY_INLINE Products multiply_elements_wide(V a, ElementFactor b) {
  return add_product(multiply_wide(hn::DupEven(a), b.straight), hn::DupOdd(a), b.crossed);
}
HWY_INLINE V multiply_elements(V a, ElementFactor b) { return reduce(multiply_elements_wide(a, b)); }
/// low + challenge*(high - low).
HWY_INLINE V elements_on_line(V low, V high, ElementFactor challenge) {
  return reduce_and_add(multiply_elements_wide(subtract(high, low), challenge), low);
}

/// A sum of products a*b, reduced once: sums of (a0*b0, a0*b1) and of (a1*b1, a1*b0).
struct ProductSum {
  Products straight;
  Products crossed;
};
HWY_INLINE ProductSum no_products() { return {no_product(), no_product()}; }
HWY_INLINE ProductSum carried(ProductSum sum) { return {carried(sum.straight), carried(sum.crossed)}; }
HWY_INLINE ProductSum add_elements_product(ProductSum sum, V a, V b) {
  return {add_product(sum.straight, hn::DupEven(a), b), add_product(sum.crossed, hn::DupOdd(a), hn::Shuffle01(b))};
}
HWY_INLINE V reduce(ProductSum sum) {
  const V crossed = reduce(sum.crossed);
  return add(reduce(sum.straight), hn::OddEven(crossed, times_seven(crossed)));
}

/// Every second element of (first, second), from element 0 and from element 1 on.
struct Halves {
  V even;
  V odd;
};
HWY_INLINE Halves split_pairs(V first, V second) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  // Highway has no shuffle of 128-bit blocks of two vectors
  return {V{_mm512_shuffle_i64x2(first.raw, second.raw, 0x88)}, V{_mm512_shuffle_i64x2(first.raw, second.raw, 0xDD)}};
#else
  static_assert(hn::MaxLanes(Lanes()) <= 4);
  if constexpr (hn::MaxLanes(Lanes()) == 2) {
    return {first, second};
  } else {
    return {hn::ConcatLowerLower(Lanes(), second, first), hn::ConcatUpperUpper(Lanes(), second, first)};
  }
#endif
}

/// Sum of all elements.
HWY_INLINE E sum_elements(V a) {
  HWY_ALIGN std::uint64_t words[8];
  hn::Store(a, Lanes(), words);
  E sum;
  for (std::size_t i = 0; i < elements_per_vector(); ++i) {
    sum += E{F::from_canonical(words[2 * i]), F::from_canonical(words[2 * i + 1])};
  }
  return sum;
}

#endif
}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
