// Vectors of F for Highway kernels: included once per instruction set by foreach_target.
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

using D64 = hn::ScalableTag<std::uint64_t>;
using V64 = hn::Vec<D64>;

inline constexpr std::uint64_t epsilon = 0xFFFFFFFFULL;  // 2^64 mod p

HWY_INLINE const std::uint64_t* words(const F* values) { return reinterpret_cast<const std::uint64_t*>(values); }
HWY_INLINE std::uint64_t* words(F* values) { return reinterpret_cast<std::uint64_t*>(values); }

/// Canonical in, canonical out, for all functions below.
HWY_INLINE V64 subtract(V64 a, V64 b) { return add_where(hn::Lt(a, b), hn::Sub(a, b), hn::Set(D64(), F::modulus)); }

HWY_INLINE V64 add(V64 a, V64 b) { return subtract(a, hn::Sub(hn::Set(D64(), F::modulus), b)); }

/// Product of the low 32 bits of each lane.
HWY_INLINE V64 multiply_low(V64 a, V64 b) {
#if HWY_TARGET == HWY_SCALAR
  const D64 d;
  return hn::Set(d, (hn::GetLane(a) & epsilon) * (hn::GetLane(b) & epsilon));
#else
  const hn::Repartition<std::uint32_t, D64> d32;
  return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b));
#endif
}

/// (high * 2^64 + low) mod p.
HWY_INLINE V64 reduce(V64 high, V64 low) {
  const D64 d;
  const V64 eps = hn::Set(d, epsilon);
  const V64 high_high = hn::ShiftRight<32>(high);
  const V64 high_low = hn::And(high, eps);
  V64 result = subtract_where(hn::Lt(low, high_high), hn::Sub(low, high_high), eps);
  const V64 middle = hn::Sub(hn::ShiftLeft<32>(high_low), high_low);
  result = hn::Add(result, middle);
  result = add_where(hn::Lt(result, middle), result, eps);
  return hn::Min(result, hn::Sub(result, hn::Set(d, F::modulus)));
}

struct Product {
  V64 high, low;
};

/// a*b = high * 2^64 + low, for any a and b below 2^64.
HWY_INLINE Product wide_product(V64 a, V64 b) {
  const D64 d;
  const V64 mask = hn::Set(d, epsilon);
  const V64 a_high = hn::ShiftRight<32>(a);
  const V64 b_high = hn::ShiftRight<32>(b);
  const V64 low_low = multiply_low(a, b);
  const V64 first = hn::Add(multiply_low(a_high, b), hn::ShiftRight<32>(low_low));
  const V64 second = hn::Add(multiply_low(a, b_high), hn::And(first, mask));
  const V64 high =
      hn::Add(hn::Add(multiply_low(a_high, b_high), hn::ShiftRight<32>(first)), hn::ShiftRight<32>(second));
  return {high, hn::Or(hn::ShiftLeft<32>(second), hn::And(low_low, mask))};
}

HWY_INLINE V64 multiply(V64 a, V64 b) {
  const Product product = wide_product(a, b);
  return reduce(product.high, product.low);
}

/// a*b / 2^64 mod p (Montgomery): fewer steps than multiply().
HWY_INLINE V64 multiply_shifted(V64 a, V64 b) {
  const D64 d;
  const Product product = wide_product(a, b);
  // low * (2^32 + 1) = low / p mod 2^64; times p, its upper half is to be taken away
  const V64 quotient = hn::Add(product.low, hn::ShiftLeft<32>(product.low));
  V64 away = hn::Sub(quotient, hn::ShiftRight<32>(quotient));
  away = subtract_where(hn::Lt(quotient, product.low), away, hn::Set(d, 1));
  return subtract(product.high, away);
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
