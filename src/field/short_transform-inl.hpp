// Transforms of a few elements in registers, compiled once for every instruction set (see Highway's foreach_target.h):
// include it from a file that is itself such an include.
#if defined(TESSERA_FIELD_SHORT_TRANSFORM_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_FIELD_SHORT_TRANSFORM_INL
#undef TESSERA_FIELD_SHORT_TRANSFORM_INL
#else
#define TESSERA_FIELD_SHORT_TRANSFORM_INL
#endif

#include <cstddef>
#include <cstdint>

#include "field/goldilocks-inl.hpp"
#include "field/written_out-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// One code for butterflies on vectors and, where few lanes do not fill one, on single elements. Vectors are kept sums
/// between layers: only what is added to one of them need be canonical. Twiddles are given times 2^64 (Montgomery
/// form); multiply_shifted takes the factor away again: 2^192 = 1, 2^128 = -2^32.
HWY_INLINE V load(const F* from) { return hn::LoadU(Lanes(), words(from)); }
HWY_INLINE void store(V value, F* to) { hn::StoreU(value, Lanes(), words(to)); }

/// How a butterfly reads and writes one lane of a row.
struct OneLane {
  using Value = F;
  HWY_INLINE F load(const F* from) const { return *from; }
  HWY_INLINE void store(F value, F* to) const { *to = value; }
};
/// How a butterfly reads and writes the lanes of a row that fill a vector.
struct AllLanes {
  using Value = V;
  HWY_INLINE V load(const F* from) const { return HWY_NAMESPACE::load(from); }
  HWY_INLINE void store(V value, F* to) const { HWY_NAMESPACE::store(value, to); }
};
/// How a butterfly reads and writes the first lanes of a vector: no others are touched on machines whose vectors are
/// long enough for this.
struct SomeLanes {
  using Value = V;
  hn::Mask<Lanes> mask;
  HWY_INLINE V load(const F* from) const { return hn::MaskedLoad(mask, Lanes(), words(from)); }
  HWY_INLINE void store(V value, F* to) const { hn::BlendedStore(value, mask, Lanes(), words(to)); }
};

HWY_INLINE F keep(F a) { return a; }
HWY_INLINE F weak_of_kept(F a) { return a; }
HWY_INLINE F canonical_of_kept(F a) { return a; }
HWY_INLINE F add_to_kept(F a, F b) { return a + b; }
HWY_INLINE F subtract_from_kept(F a, F b) { return a - b; }

/// x[i] *= twiddles[i], kept.
template <std::size_t count>
HWY_INLINE void multiply_shifted(F* x, const F* twiddles) {
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = x[i] * twiddles[i] * F::from_canonical(F::modulus - (std::uint64_t{1} << 32));
  }
}
/// Chains of products that go side by side: as many as there are registers for.
constexpr std::size_t chains = HWY_TARGET <= HWY_AVX3 ? 8 : 2;
/// A product is a chain of steps that wait for each other; `count` chains go side by side, which compilers do not do
/// and which is more than a processor looks ahead.
template <std::size_t count>
HWY_INLINE void multiply_shifted(V* x, const F* twiddles) {
  V factor[count];
  V factor_high[count];
  V x_high[count];
  V low[count];
  V middle[count];
  V cross[count];
  V high[count];
  const auto each = [](const auto& body) TESSERA_WRITTEN_OUT { unrolled<count>(body); };
  each([&](auto i) TESSERA_WRITTEN_OUT { factor[i] = constant(twiddles[i].value()); });
  each([&](auto i) TESSERA_WRITTEN_OUT { factor_high[i] = constant(twiddles[i].value() >> 32); });
  each([&](auto i) TESSERA_WRITTEN_OUT { x_high[i] = hn::ShiftRight<32>(x[i]); });
  each([&](auto i) TESSERA_WRITTEN_OUT { low[i] = multiply_low_halves(x[i], factor[i]); });
  each([&](auto i) TESSERA_WRITTEN_OUT { middle[i] = multiply_low_halves(x_high[i], factor[i]); });
  each([&](auto i) TESSERA_WRITTEN_OUT { cross[i] = multiply_low_halves(x[i], factor_high[i]); });
  each([&](auto i) TESSERA_WRITTEN_OUT { high[i] = multiply_low_halves(x_high[i], factor_high[i]); });
  each([&](auto i) TESSERA_WRITTEN_OUT { middle[i] = hn::Add(middle[i], hn::ShiftRight<32>(low[i])); });
  each([&](auto i) TESSERA_WRITTEN_OUT { cross[i] = hn::Add(cross[i], hn::And(middle[i], epsilon())); });
  each([&](auto i) TESSERA_WRITTEN_OUT {
    high[i] = hn::Add(hn::Add(high[i], hn::ShiftRight<32>(middle[i])), hn::ShiftRight<32>(cross[i]));
  });
#if HWY_TARGET == HWY_AVX2
  // low = a + 2^32*b, a < 2^32: low / 2^64 = 2^32*a + (2^32 - 1)*b, taken away
  each([&](auto i) TESSERA_WRITTEN_OUT { high[i] = subtract_from_kept(keep(high[i]), hn::ShiftLeft<32>(low[i])); });
  each([&](auto i) TESSERA_WRITTEN_OUT { x[i] = subtract_from_kept(high[i], times_epsilon(cross[i])); });
#else
  each([&](auto i) TESSERA_WRITTEN_OUT { low[i] = join_halves(hn::ShiftLeft<32>(cross[i]), low[i]); });
  // low * (2^32 + 1) = low / p mod 2^64; times p, its upper half is to be taken away
  each([&](auto i) TESSERA_WRITTEN_OUT { cross[i] = hn::Add(low[i], hn::ShiftLeft<32>(low[i])); });
  each([&](auto i) TESSERA_WRITTEN_OUT { middle[i] = hn::Sub(cross[i], hn::ShiftRight<32>(cross[i])); });
  each([&](auto i)
           TESSERA_WRITTEN_OUT { middle[i] = subtract_where(hn::Lt(cross[i], low[i]), middle[i], constant(1)); });
  each([&](auto i) TESSERA_WRITTEN_OUT { x[i] = subtract(high[i], middle[i]); });
#endif
}

/// Canonical, of what multiply_shifted gives.
HWY_INLINE F canonical_of_product(F kept) { return kept; }
HWY_INLINE V canonical_of_product(V kept) { return HWY_TARGET == HWY_AVX2 ? canonical_of_kept(kept) : kept; }

/// x * 2^exponent, canonical, of a kept x, 0 < exponent < 96.
template <unsigned exponent>
HWY_INLINE F times_power(F x) {
  return x * F::from_canonical(2).power(exponent);
}
template <unsigned exponent>
HWY_INLINE V times_power(V kept) {
  const V x = weak_of_kept(kept);
  if constexpr (exponent < 32) {  // 2^64 = epsilon
    return canonical_of_kept(
        add_to_kept(keep(hn::ShiftLeft<exponent>(x)), times_epsilon(hn::ShiftRight<64 - exponent>(x))));
  } else if constexpr (exponent < 64) {
    return reduce(Wide{hn::ShiftLeft<exponent>(x), hn::ShiftRight<64 - exponent>(x)});
  } else {  // 2^96 = -1
    constexpr unsigned bits = exponent - 64;
    return subtract(times_epsilon(hn::ShiftLeft<bits>(x)), hn::ShiftRight<32 - bits>(x));
  }
}

constexpr unsigned order_of_two = 192;

constexpr unsigned exponent_of(F power_of_two) {
  unsigned exponent = 0;
  for (F power = F::one(); power != power_of_two; power *= F::from_canonical(2)) {
    ++exponent;
  }
  return exponent;
}
/// Roots of order 16 are powers of 2.
template <unsigned log_order>
constexpr unsigned root_exponent = exponent_of(F::root_of_unity(log_order));

/// A transform of 2^layers elements, whose twiddles are powers of 2. x[1], x[3], ... are canonical, the others and the
/// results are kept.
template <unsigned layers, class T>
HWY_INLINE void short_transform(T* x) {
  unrolled<layers>([&](auto layer) TESSERA_WRITTEN_OUT {
    constexpr unsigned half = 1U << layer();
    unrolled<(std::size_t{1} << layers) / 2>([&](auto butterfly) TESSERA_WRITTEN_OUT {
      constexpr unsigned i = butterfly() % half;
      constexpr unsigned first = butterfly() / half * 2 * half + i;
      constexpr unsigned exponent = root_exponent<layer() + 1> * i % order_of_two;
      T& x0 = x[first];
      T& x1 = x[first + half];
      T y = x1;
      if constexpr (i > 0) {
        y = times_power<exponent % (order_of_two / 2)>(x1);
      } else if constexpr (half > 1) {
        y = canonical_of_kept(x1);
      }
      const T sum = add_to_kept(x0, y);
      const T difference = subtract_from_kept(x0, y);
      constexpr bool negative = exponent >= order_of_two / 2;
      x0 = negative ? difference : sum;
      x1 = negative ? sum : difference;
    });
  });
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
