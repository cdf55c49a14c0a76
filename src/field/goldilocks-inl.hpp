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
  return {hn::Or(hn::ShiftLeft<32>(cross), hn::And(low_low, epsilon())), high};
}

/// difference + 2^64*low of 32 bits, weak: 2^64 = 2^32 - 1 mod p.
HWY_INLINE V add_times_epsilon(V difference, V low) {
  const V term = hn::Sub(hn::ShiftLeft<32>(low), low);
  const V sum = hn::Add(difference, term);
  return add_where(hn::Lt(sum, term), sum, epsilon());
}
/// Weak result: 2^96 = -1 mod p.
HWY_INLINE V reduce_weak(Wide value) {
  const V high_high = hn::ShiftRight<32>(value.high);
  const V difference = subtract_where(hn::Lt(value.low, high_high), hn::Sub(value.low, high_high), epsilon());
  return add_times_epsilon(difference, hn::And(value.high, epsilon()));
}

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
/// Weak result.
HWY_INLINE V reduce_weak(Products value) {
  const V shifted = hn::ShiftLeft<52>(value.at_52);
  const V sum = hn::Add(value.at_0, shifted);
  const V low = add_where(hn::Lt(sum, shifted), sum, epsilon());
  const V at_96 = hn::Add(hn::ShiftRight<44>(value.at_52), hn::ShiftLeft<8>(value.at_104));
  const V difference = subtract_where(hn::Lt(low, at_96), hn::Sub(low, at_96), epsilon());
  return add_times_epsilon(difference, hn::And(hn::ShiftRight<12>(value.at_52), epsilon()));
}
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
HWY_INLINE V reduce(Wide value) { return canonical(reduce_weak(value)); }
#ifdef TESSERA_IFMA
HWY_INLINE V reduce(Products value) { return canonical(reduce_weak(value)); }
#endif

/// 7*a, canonical.
HWY_INLINE V times_seven(V a) {
  const V eightfold = hn::ShiftLeft<3>(a);  // and a >> 61 times 2^64
  const V top = hn::ShiftRight<61>(a);
  const V sum = hn::Add(eightfold, hn::Sub(hn::ShiftLeft<32>(top), top));  // both below 2^64, top*epsilon < 2^35
  const V wrapped = add_where(hn::Lt(sum, eightfold), sum, epsilon());
  return subtract(canonical(wrapped), a);
}

HWY_INLINE V multiply(V a, V b) { return reduce(multiply_wide(a, b)); }

HWY_INLINE const std::uint64_t* words(const F* values) { return reinterpret_cast<const std::uint64_t*>(values); }
HWY_INLINE std::uint64_t* words(F* values) { return reinterpret_cast<std::uint64_t*>(values); }

/// a*small for lanes of `small` below 2^32.
HWY_INLINE V multiply_small(V a, V small) {
  const V low_low = multiply_low_halves(a, small);
  const V middle = hn::Add(multiply_low_halves(hn::ShiftRight<32>(a), small), hn::ShiftRight<32>(low_low));
  const V high = hn::ShiftRight<32>(middle);  // < 2^32: its weight 2^64 is epsilon
  const V term = hn::Sub(hn::ShiftLeft<32>(high), high);
  const V low = hn::Or(hn::ShiftLeft<32>(middle), hn::And(low_low, epsilon()));
  const V sum = hn::Add(low, term);
  return canonical(add_where(hn::Lt(sum, term), sum, epsilon()));
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
