#include <cstring>

#include "field/scale_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/scale_kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/goldilocks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

HWY_INLINE V load(const F* from) { return hn::LoadU(Lanes(), words(from)); }
HWY_INLINE void store(V value, F* to) { hn::StoreU(value, Lanes(), words(to)); }

void scale_kernel(F factor, const F* HWY_RESTRICT values, std::size_t count, F* HWY_RESTRICT products) {
  const Lanes d;
  const V factors = hn::Set(d, factor.value());
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    store(multiply(load(values + i), factors), products + i);
  }
  for (; i < count; ++i) {
    products[i] = factor * values[i];
  }
}

void add_scaled_kernel(F factor, const F* HWY_RESTRICT values, std::size_t count, F* HWY_RESTRICT sums) {
  const Lanes d;
  const V factors = hn::Set(d, factor.value());
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    store(add(load(sums + i), multiply(load(values + i), factors)), sums + i);
  }
  for (; i < count; ++i) {
    sums[i] += factor * values[i];
  }
}

/// A factor's halves times the integers, added up apart: each product has 48 bits.
void add_scaled_integers_kernel(std::span<const ScaledIntegers> terms, F* HWY_RESTRICT sums) {
  constexpr std::size_t count = ScaledIntegers::count;
  F flips;  // of what flipped bits add
  for (const ScaledIntegers& term : terms) {
    flips += term.flip == 0 ? F::zero() : term.factor;
  }
  flips = flips * F::from_canonical(std::uint64_t{1} << 15);
#if HWY_TARGET != HWY_SCALAR
  const Lanes d;
  const hn::Rebind<std::uint16_t, Lanes> quarters;
  const hn::Rebind<std::uint32_t, Lanes> halves;
  const hn::Repartition<std::uint32_t, Lanes> pairs;
  static_assert(count % hn::MaxLanes(Lanes()) == 0);
  for (std::size_t lane = 0; lane < count; lane += hn::Lanes(d)) {
    V low = hn::Zero(d);
    V high = hn::Zero(d);
    for (const ScaledIntegers& term : terms) {
      const auto* const values = reinterpret_cast<const std::uint16_t*>(term.values) + lane;
      const auto flipped = hn::Xor(hn::LoadU(quarters, values), hn::Set(quarters, term.flip));
      const auto value = hn::BitCast(pairs, hn::PromoteTo(d, hn::PromoteTo(halves, flipped)));
      const V factor = hn::Set(d, term.factor.value());
      low = hn::Add(low, hn::MulEven(value, hn::BitCast(pairs, factor)));
      high = hn::Add(high, hn::MulEven(value, hn::BitCast(pairs, hn::ShiftRight<32>(factor))));
    }
    // both below 2^63, hence canonical
    const V product = add(low, multiply(high, hn::Set(d, std::uint64_t{1} << 32)));
    store(subtract(add(load(sums + lane), product), hn::Set(d, flips.value())), sums + lane);
  }
#else
  for (const ScaledIntegers& term : terms) {
    std::uint16_t values[count];
    std::memcpy(values, term.values, sizeof(values));
    for (std::size_t i = 0; i < count; ++i) {
      sums[i] += term.factor * F::from_canonical(static_cast<std::uint16_t>(values[i] ^ term.flip));
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] = sums[i] - flips;
  }
#endif
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(scale_kernel);
HWY_EXPORT(add_scaled_kernel);
HWY_EXPORT(add_scaled_integers_kernel);

void scale(F factor, const F* values, std::size_t count, F* products) {
  HWY_DYNAMIC_DISPATCH(scale_kernel)(factor, values, count, products);
}
void add_scaled_integers(std::span<const ScaledIntegers> terms, F* sums) {
  HWY_DYNAMIC_DISPATCH(add_scaled_integers_kernel)(terms, sums);
}
void add_scaled(F factor, const F* values, std::size_t count, F* sums) {
  HWY_DYNAMIC_DISPATCH(add_scaled_kernel)(factor, values, count, sums);
}

}  // namespace tessera
#endif  // HWY_ONCE
