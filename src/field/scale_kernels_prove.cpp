#include <cstring>

#include "field/scale_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/scale_kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/vector_interleaved-inl.hpp"

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

void scale_elements_kernel(E factor, const E* HWY_RESTRICT values, std::size_t count, E* HWY_RESTRICT products) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const ElementFactor factors = element_factor(factor);
  for (; i + elements_per_vector() <= count; i += elements_per_vector()) {
    store_elements(multiply_elements(load_elements(values + i), factors), products + i);
  }
#endif
  for (; i < count; ++i) {
    products[i] = factor * values[i];
  }
}

HWY_INLINE void add_scaled_row(E factor, const E* HWY_RESTRICT values, std::size_t count, E* HWY_RESTRICT sums) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const ElementFactor factors = element_factor(factor);
  for (; i + elements_per_vector() <= count; i += elements_per_vector()) {
    const Products product = multiply_elements_wide(load_elements(values + i), factors);
    store_elements(reduce_and_add(product, load_elements(sums + i)), sums + i);
  }
#endif
  for (; i < count; ++i) {
    sums[i] += factor * values[i];
  }
}

void add_scaled_elements_kernel(E factor, const E* HWY_RESTRICT values, std::size_t count, E* HWY_RESTRICT sums) {
  add_scaled_row(factor, values, count, sums);
}

void add_outer_product_kernel(std::span<const E> left, std::span<const E> right, E* HWY_RESTRICT sums) {
  for (const E& factor : left) {
    add_scaled_row(factor, right.data(), right.size(), sums);
    sums += right.size();
  }
}

/// A factor's halves times the integers, added up apart: each product has 48 bits. What flipped bits add, `flips`, is
/// taken away.
#if HWY_TARGET != HWY_SCALAR
template <std::size_t vectors>
HWY_INLINE void add_scaled_vectors(std::span<const ScaledIntegers> terms, std::size_t lane, F flips,
                                   F* HWY_RESTRICT sums) {
  const Lanes d;
  const hn::Rebind<std::uint16_t, Lanes> quarters;
  const hn::Rebind<std::uint32_t, Lanes> halves;
  V low[vectors];
  V high[vectors];
  for (std::size_t k = 0; k < vectors; ++k) {
    low[k] = high[k] = hn::Zero(d);
  }
  for (const ScaledIntegers& term : terms) {
    const auto* const values = reinterpret_cast<const std::uint16_t*>(term.values) + lane;
    const auto flip = hn::Set(quarters, term.flip);
    const V factor = hn::Set(d, term.factor.value());
    const V factor_low = hn::And(factor, epsilon());
    const V factor_high = hn::ShiftRight<32>(factor);
    for (std::size_t k = 0; k < vectors; ++k) {
      const auto flipped = hn::Xor(hn::LoadU(quarters, values + k * hn::Lanes(d)), flip);
      const V value = hn::PromoteTo(d, hn::PromoteTo(halves, flipped));
      low[k] = add_small_product(low[k], value, factor_low);
      high[k] = add_small_product(high[k], value, factor_high);
    }
  }
  for (std::size_t k = 0; k < vectors; ++k) {
    F* const to = sums + lane + k * hn::Lanes(d);
    // both below 2^63, hence canonical
    const V product = add(low[k], multiply(high[k], hn::Set(d, std::uint64_t{1} << 32)));
    store(subtract(add(load(to), product), hn::Set(d, flips.value())), to);
  }
}
#endif

void add_scaled_integers_kernel(std::span<const ScaledIntegers> terms, std::size_t count, F* HWY_RESTRICT sums) {
  F flips;
  for (const ScaledIntegers& term : terms) {
    flips += term.flip == 0 ? F::zero() : term.factor;
  }
  flips = flips * F::from_canonical(std::uint64_t{1} << 15);
#if HWY_TARGET != HWY_SCALAR
  constexpr std::size_t together = 4;  // vectors for which a factor is made ready once
  const std::size_t lanes = hn::Lanes(Lanes());
  std::size_t lane = 0;
  for (; lane + together * lanes <= count; lane += together * lanes) {
    add_scaled_vectors<together>(terms, lane, flips, sums);
  }
  for (; lane < count; lane += lanes) {
    add_scaled_vectors<1>(terms, lane, flips, sums);
  }
#else
  for (const ScaledIntegers& term : terms) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t value;
      std::memcpy(&value, term.values + i * sizeof(value), sizeof(value));
      sums[i] += term.factor * F::from_canonical(static_cast<std::uint16_t>(value ^ term.flip));
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
HWY_EXPORT(scale_elements_kernel);
HWY_EXPORT(add_scaled_elements_kernel);
HWY_EXPORT(add_outer_product_kernel);
HWY_EXPORT(add_scaled_integers_kernel);

void scale(F factor, const F* values, std::size_t count, F* products) {
  HWY_DYNAMIC_DISPATCH(scale_kernel)(factor, values, count, products);
}
void add_scaled_integers(std::span<const ScaledIntegers> terms, std::size_t count, F* sums) {
  HWY_DYNAMIC_DISPATCH(add_scaled_integers_kernel)(terms, count, sums);
}
void add_scaled(F factor, const F* values, std::size_t count, F* sums) {
  HWY_DYNAMIC_DISPATCH(add_scaled_kernel)(factor, values, count, sums);
}
void scale(E factor, const E* values, std::size_t count, E* products) {
  HWY_DYNAMIC_DISPATCH(scale_elements_kernel)(factor, values, count, products);
}
void add_scaled(E factor, const E* values, std::size_t count, E* sums) {
  HWY_DYNAMIC_DISPATCH(add_scaled_elements_kernel)(factor, values, count, sums);
}
void add_outer_product(std::span<const E> left, std::span<const E> right, E* sums) {
  HWY_DYNAMIC_DISPATCH(add_outer_product_kernel)(left, right, sums);
}

}  // namespace tessera
#endif  // HWY_ONCE
