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

/// low + 2^64*high, both weak mod p where such values are added.
struct Wide {
  V low;
  V high;
};

/// a*b of any 64-bit lanes.
HWY_INLINE Wide multiply_wide(V a, V b) {
  const V a_high = hn::ShiftRight<32>(a);
  const V b_high = hn::ShiftRight<32>(b);
  const V low_low = multiply_low_halves(a, b);
  const V middle = hn::Add(multiply_low_halves(a_high, b), hn::ShiftRight<32>(low_low));  // < 2^64
  const V cross = hn::Add(multiply_low_halves(a, b_high), hn::And(middle, epsilon()));    // < 2^64
  const V high =
      hn::Add(hn::Add(multiply_low_halves(a_high, b_high), hn::ShiftRight<32>(middle)), hn::ShiftRight<32>(cross));
  return {hn::Or(hn::ShiftLeft<32>(cross), hn::And(low_low, epsilon())), high};
}

/// Adds a product of a weak and a canonical factor (high part <= 2^64 - 2^32 - 1: neither carry overflows).
HWY_INLINE Wide add_product(Wide sum, V a, V b) {
  const Wide product = multiply_wide(a, b);
  const V low = hn::Add(sum.low, product.low);
  const V high = add_where(hn::Lt(low, sum.low), product.high, constant(1));
  const V total = hn::Add(sum.high, high);
  return {low, add_where(hn::Lt(total, high), total, epsilon())};
}

/// Weak result: 2^64 = 2^32 - 1 and 2^96 = -1 mod p.
HWY_INLINE V reduce_weak(Wide value) {
  const V high_high = hn::ShiftRight<32>(value.high);
  const V high_low = hn::And(value.high, epsilon());
  const V difference = subtract_where(hn::Lt(value.low, high_high), hn::Sub(value.low, high_high), epsilon());
  const V term = hn::Sub(hn::ShiftLeft<32>(high_low), high_low);
  const V sum = hn::Add(difference, term);
  return add_where(hn::Lt(sum, term), sum, epsilon());
}
HWY_INLINE V reduce(Wide value) { return canonical(reduce_weak(value)); }

/// 7*a, canonical.
HWY_INLINE V times_seven(V a) {
  const V eightfold = hn::ShiftLeft<3>(a);  // and a >> 61 times 2^64
  const V top = hn::ShiftRight<61>(a);
  const V sum = hn::Add(eightfold, hn::Sub(hn::ShiftLeft<32>(top), top));  // both below 2^64, top*epsilon < 2^35
  const V wrapped = add_where(hn::Lt(sum, eightfold), sum, epsilon());
  return subtract(canonical(wrapped), a);
}

HWY_INLINE V multiply(V a, V b) { return reduce(multiply_wide(a, b)); }

/// a*b / 2^64 mod p (Montgomery): fewer steps than multiply().
HWY_INLINE V multiply_shifted(V a, V b) {
  const Wide product = multiply_wide(a, b);
  // low * (2^32 + 1) = low / p mod 2^64; times p, its upper half is to be taken away
  const V quotient = hn::Add(product.low, hn::ShiftLeft<32>(product.low));
  V away = hn::Sub(quotient, hn::ShiftRight<32>(quotient));
  away = subtract_where(hn::Lt(quotient, product.low), away, constant(1));
  return subtract(product.high, away);
}

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
