// Arithmetic mod p on vectors of up to 8 lanes, compiled once for every instruction set (see Highway's
// foreach_target.h): include it from a file that is itself such an include.
#if defined(TESSERA_FIELD_GOLDILOCKS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_FIELD_GOLDILOCKS_INL
#undef TESSERA_FIELD_GOLDILOCKS_INL
#else
#define TESSERA_FIELD_GOLDILOCKS_INL
#endif

#include <hwy/highway.h>

#include "field/extension.hpp"
#include "field/masked-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::CappedTag<std::uint64_t, 8>;
using V = hn::Vec<Lanes>;  // canonical elements of F unless a comment says "weak": any 64-bit representative

HWY_INLINE V constant(std::uint64_t value) { return hn::Set(Lanes(), value); }
/// 2^64 mod p.
HWY_INLINE V epsilon() { return constant(0xFFFFFFFFULL); }

/// Weak to canonical.
HWY_INLINE V canonical(V a) { return hn::Min(a, hn::Sub(a, constant(F::modulus))); }
/// Weak plus canonical, weak.
HWY_INLINE V add_weak(V weak, V a) {
  const V sum = hn::Add(weak, a);
  return add_where(hn::Lt(sum, weak), sum, epsilon());
}
HWY_INLINE V subtract(V a, V b) { return subtract_where(hn::Lt(a, b), hn::Sub(a, b), epsilon()); }
HWY_INLINE V add(V a, V b) {
  const V negated = hn::Sub(constant(F::modulus), b);
  return add_where(hn::Lt(a, negated), hn::Sub(a, negated), constant(F::modulus));
}

// Sums that go on are *kept*: weak, and less 2^63 where a machine compares signed numbers alone. There the upper halves
// say whether a sum or a difference with a number of at most 2^64 - 2^32 went round.
#if HWY_TARGET == HWY_AVX2
HWY_INLINE V keep(V weak) { return hn::Xor(weak, constant(std::uint64_t{1} << 63)); }
HWY_INLINE V weak_of_kept(V kept) { return keep(kept); }
/// 2^32 - 1 in lanes where the upper half of a is greater than that of b, as signed numbers; else 0.
HWY_INLINE V epsilon_where_greater(V a, V b) { return hn::ShiftRight<32>(V{_mm256_cmpgt_epi32(a.raw, b.raw)}); }
/// Kept plus a number up to 2^64 - 2^32, canonical ones among them.
HWY_INLINE V add_to_kept(V kept, V a) {
  const V sum = hn::Add(kept, a);
  return hn::Add(sum, epsilon_where_greater(kept, sum));
}
HWY_INLINE V subtract_from_kept(V kept, V a) {
  const V difference = hn::Sub(kept, a);
  return hn::Sub(difference, epsilon_where_greater(difference, kept));
}
HWY_INLINE V canonical_of_kept(V kept) {
  const V too_large{_mm256_cmpgt_epi64(kept.raw, keep(constant(F::modulus - 1)).raw)};
  return weak_of_kept(hn::Add(kept, hn::And(too_large, epsilon())));
}
#else
HWY_INLINE V keep(V weak) { return weak; }
HWY_INLINE V weak_of_kept(V kept) { return kept; }
HWY_INLINE V add_to_kept(V kept, V a) { return add_weak(kept, a); }
HWY_INLINE V subtract_from_kept(V kept, V a) { return subtract(kept, a); }
HWY_INLINE V canonical_of_kept(V kept) { return canonical(kept); }
#endif

/// Product of the low 32 bits of each lane.
HWY_INLINE V multiply_low_halves(V a, V b) {
#if HWY_TARGET == HWY_SCALAR
  return constant((hn::GetLane(a) & 0xFFFFFFFFULL) * (hn::GetLane(b) & 0xFFFFFFFFULL));
#else
  const hn::Repartition<std::uint32_t, Lanes> halves;
  return hn::MulEven(hn::BitCast(halves, a), hn::BitCast(halves, b));
#endif
}

/// sum + a*b, both below 2^32 and the product below 2^52.
HWY_INLINE V add_small_product(V sum, V a, V b) {
#ifdef TESSERA_IFMA
  return add_low_52(sum, a, b);
#else
  return hn::Add(sum, multiply_low_halves(a, b));
#endif
}

/// a*(2^32 - 1) of the low 32 bits of each lane.
HWY_INLINE V times_epsilon(V a) {
#if HWY_TARGET == HWY_AVX2
  return multiply_low_halves(a, epsilon());
#else
  const V low = hn::And(a, epsilon());
  return hn::Sub(hn::ShiftLeft<32>(low), low);
#endif
}
/// The upper halves of `high`, whose lower ones are zero, beside the lower halves of `low`.
HWY_INLINE V join_halves(V high, V low) {
#if HWY_TARGET == HWY_AVX2
  return V{_mm256_blend_epi32(low.raw, high.raw, 0xAA)};
#else
  return hn::Or(high, hn::And(low, epsilon()));
#endif
}

/// low + 2^64*high.
struct Wide {
  V low;
  V high;
};

/// a*b of any 64-bit lanes.
HWY_INLINE Wide multiply_full(V a, V b) {
  const V a_high = hn::ShiftRight<32>(a);
  const V b_high = hn::ShiftRight<32>(b);
  const V low_low = multiply_low_halves(a, b);
  const V middle = hn::Add(multiply_low_halves(a_high, b), hn::ShiftRight<32>(low_low));  // < 2^64
  const V cross = hn::Add(multiply_low_halves(a, b_high), hn::And(middle, epsilon()));    // < 2^64
  const V high =
      hn::Add(hn::Add(multiply_low_halves(a_high, b_high), hn::ShiftRight<32>(middle)), hn::ShiftRight<32>(cross));
  return {join_halves(hn::ShiftLeft<32>(cross), low_low), high};
}

/// low + 2^64*high, low kept: 2^64 = 2^32 - 1 and 2^96 = -1 mod p.
HWY_INLINE V reduce_kept(V low, V high) {
  return add_to_kept(subtract_from_kept(low, hn::ShiftRight<32>(high)), times_epsilon(high));
}
HWY_INLINE V reduce_kept(Wide value) { return reduce_kept(keep(value.low), value.high); }

// Sums of products before reduction: add_product() up to 2^10 times, and any number of times if the sum is carried() in
// between.
#ifdef TESSERA_IFMA
/// at_0 + 2^52*at_52 + 2^104*at_104: halves of products of 52 bits are added up where they belong, and nothing is
/// carried. A product adds less than 3*2^52 to a part.
struct Products {
  V at_0;
  V at_52;
  V at_104;
};
HWY_INLINE Products no_product() {
  const V zero = constant(0);
  return {zero, zero, zero};
}
/// a*b of any 64-bit lanes.
HWY_INLINE Products add_product(Products sum, V a, V b) {
  const V a_high = hn::ShiftRight<52>(a);
  const V b_high = hn::ShiftRight<52>(b);
  sum.at_0 = add_low_52(sum.at_0, a, b);
  sum.at_52 = add_high_52(sum.at_52, a, b);
  sum.at_104 = add_high_52(sum.at_104, a, b_high);
  sum.at_52 = add_low_52(sum.at_52, a, b_high);
  sum.at_104 = add_high_52(sum.at_104, a_high, b);
  sum.at_52 = add_low_52(sum.at_52, a_high, b);
  sum.at_104 = add_low_52(sum.at_104, a_high, b_high);
  return sum;
}
HWY_INLINE Products multiply_wide(V a, V b) { return add_product(no_product(), a, b); }
/// The sum of products with its two lower parts below 2^52.
HWY_INLINE Products carried(Products sum) {
  const V mask = constant((std::uint64_t{1} << 52) - 1);
  const V middle = hn::Add(sum.at_52, hn::ShiftRight<52>(sum.at_0));
  return {hn::And(sum.at_0, mask), hn::And(middle, mask), hn::Add(sum.at_104, hn::ShiftRight<52>(middle))};
}
HWY_INLINE V reduce_kept(Products value) {
  const V low = add_to_kept(value.at_0, hn::ShiftLeft<52>(value.at_52));
  const V at_96 = hn::Add(hn::ShiftRight<44>(value.at_52), hn::ShiftLeft<8>(value.at_104));
  return add_to_kept(subtract_from_kept(low, at_96), times_epsilon(hn::ShiftRight<12>(value.at_52)));
}
#elif HWY_TARGET == HWY_AVX2
/// Weak mod p, both parts kept.
struct Products {
  V low;
  V high;
};
HWY_INLINE Products no_product() { return {keep(constant(0)), keep(constant(0))}; }
HWY_INLINE Products multiply_wide(V a, V b) {
  const Wide product = multiply_full(a, b);
  return {keep(product.low), keep(product.high)};
}
/// a weak, b canonical (high part with the carry <= 2^64 - 2^32).
HWY_INLINE Products add_product(Products sum, V a, V b) {
  const Wide product = multiply_full(a, b);
  const V low = hn::Add(sum.low, product.low);
  const V minus_carry{_mm256_cmpgt_epi64(sum.low.raw, low.raw)};
  return {low, add_to_kept(sum.high, hn::Sub(product.high, minus_carry))};
}
HWY_INLINE Products carried(Products sum) { return sum; }
HWY_INLINE V reduce_kept(Products value) { return reduce_kept(value.low, weak_of_kept(value.high)); }
#else
/// Weak mod p.
using Products = Wide;
HWY_INLINE Products no_product() { return {constant(0), constant(0)}; }
HWY_INLINE Products multiply_wide(V a, V b) { return multiply_full(a, b); }
/// a weak, b canonical (high part <= 2^64 - 2^32 - 1: neither carry overflows).
HWY_INLINE Products add_product(Products sum, V a, V b) {
  const Wide product = multiply_full(a, b);
  const V low = hn::Add(sum.low, product.low);
  const V high = add_where(hn::Lt(low, sum.low), product.high, constant(1));
  const V total = hn::Add(sum.high, high);
  return {low, add_where(hn::Lt(total, high), total, epsilon())};
}
HWY_INLINE Products carried(Products sum) { return sum; }
#endif
/// Weak result, canonical result, of Wide or Products.
template <class Sum>
HWY_INLINE V reduce_weak(Sum value) {
  return weak_of_kept(reduce_kept(value));
}
template <class Sum>
HWY_INLINE V reduce(Sum value) {
  return canonical_of_kept(reduce_kept(value));
}
/// value + a, canonical; a, too.
HWY_INLINE V reduce_and_add(Products value, V a) { return canonical_of_kept(add_to_kept(reduce_kept(value), a)); }

/// 7*a, canonical.
HWY_INLINE V times_seven(V a) {
  const V eightfold = hn::ShiftLeft<3>(a);  // and a >> 61 times 2^64
  const V top = hn::ShiftRight<61>(a);
  const V sum = hn::Add(eightfold, hn::Sub(hn::ShiftLeft<32>(top), top));  // both below 2^64, top*epsilon < 2^35
  const V wrapped = add_where(hn::Lt(sum, eightfold), sum, epsilon());
  return subtract(canonical(wrapped), a);
}

HWY_INLINE V multiply(V a, V b) {
#ifdef TESSERA_IFMA
  return reduce(multiply_wide(a, b));
#else
  return reduce(multiply_full(a, b));
#endif
}

HWY_INLINE const std::uint64_t* words(const F* values) { return reinterpret_cast<const std::uint64_t*>(values); }
HWY_INLINE std::uint64_t* words(F* values) { return reinterpret_cast<std::uint64_t*>(values); }

/// a*small for lanes of `small` below 2^32.
HWY_INLINE V multiply_small(V a, V small) {
  const V low_low = multiply_low_halves(a, small);
  const V middle = hn::Add(multiply_low_halves(hn::ShiftRight<32>(a), small), hn::ShiftRight<32>(low_low));
  const V high = hn::ShiftRight<32>(middle);  // < 2^32: its weight 2^64 is epsilon
  const V low = join_halves(hn::ShiftLeft<32>(middle), low_low);
  return canonical_of_kept(add_to_kept(keep(low), times_epsilon(high)));
}
/// Sum of all lanes.
HWY_INLINE F sum_lanes(V a) {
  HWY_ALIGN std::uint64_t lanes[8];
  hn::Store(a, Lanes(), lanes);
  F sum;
  for (std::size_t i = 0; i < hn::Lanes(Lanes()); ++i) {
    sum += F::from_canonical(lanes[i]);
  }
  return sum;
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
