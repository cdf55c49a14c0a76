#include "field/ntt_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/ntt_kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/goldilocks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// Twiddles are given times 2^64 (Montgomery form); this takes the factor away again: 2^192 = 1, 2^128 = -2^32.
HWY_INLINE F plain(F twiddle) { return twiddle * F::from_canonical(F::modulus - (std::uint64_t{1} << 32)); }

/// (a, b) := (a + w*b, a - w*b) lane by lane.
HWY_INLINE void butterfly(F* HWY_RESTRICT a, F* HWY_RESTRICT b, F w, std::size_t lanes) {
  const D64 d;
  const V64 twiddle = hn::Set(d, w.value());
  std::size_t lane = 0;
  for (; lane + hn::Lanes(d) <= lanes; lane += hn::Lanes(d)) {
    const V64 x = hn::LoadU(d, words(a + lane));
    const V64 y = multiply_shifted(hn::LoadU(d, words(b + lane)), twiddle);
    hn::StoreU(add(x, y), d, words(a + lane));
    hn::StoreU(subtract(x, y), d, words(b + lane));
  }
  for (; lane < lanes; ++lane) {
    const F x = a[lane];
    const F y = b[lane] * plain(w);
    a[lane] = x + y;
    b[lane] = x - y;
  }
}

/// Two layers at once on rows `step` apart: (0,1) and (2,3) with `low`, then (0,2) with `even` and (1,3) with `odd`.
HWY_INLINE void double_butterfly(F* HWY_RESTRICT rows, std::size_t step, F low, F even, F odd, std::size_t lanes) {
  const D64 d;
  std::size_t lane = 0;
  const V64 first = hn::Set(d, low.value());
  const V64 second = hn::Set(d, even.value());
  const V64 third = hn::Set(d, odd.value());
  for (; lane + hn::Lanes(d) <= lanes; lane += hn::Lanes(d)) {
    std::uint64_t* at = words(rows + lane);
    const V64 x0 = hn::LoadU(d, at);
    const V64 x2 = hn::LoadU(d, at + 2 * step);
    const V64 y1 = multiply_shifted(hn::LoadU(d, at + step), first);
    const V64 y3 = multiply_shifted(hn::LoadU(d, at + 3 * step), first);
    const V64 a0 = add(x0, y1);
    const V64 a1 = subtract(x0, y1);
    const V64 b2 = multiply_shifted(add(x2, y3), second);
    const V64 b3 = multiply_shifted(subtract(x2, y3), third);
    hn::StoreU(add(a0, b2), d, at);
    hn::StoreU(add(a1, b3), d, at + step);
    hn::StoreU(subtract(a0, b2), d, at + 2 * step);
    hn::StoreU(subtract(a1, b3), d, at + 3 * step);
  }
  for (; lane < lanes; ++lane) {
    F* at = rows + lane;
    const F y1 = at[step] * plain(low);
    const F y3 = at[3 * step] * plain(low);
    const F a0 = at[0] + y1;
    const F a1 = at[0] - y1;
    const F b2 = (at[2 * step] + y3) * plain(even);
    const F b3 = (at[2 * step] - y3) * plain(odd);
    at[0] = a0 + b2;
    at[step] = a1 + b3;
    at[2 * step] = a0 - b2;
    at[3 * step] = a1 - b3;
  }
}

void transform_group(F* rows, unsigned first_layer, unsigned log_rows, std::size_t lanes, const F* twiddles) {
  unsigned layer = first_layer;
  if ((log_rows - first_layer) % 2 == 1) {
    const std::size_t half = std::size_t{1} << layer;
    for (std::size_t block = 0; block >> log_rows == 0; block += 2 * half) {
      for (std::size_t i = 0; i < half; ++i) {
        F* row = rows + (block + i) * lanes;
        butterfly(row, row + half * lanes, twiddles[half - 1 + i], lanes);
      }
    }
    ++layer;
  }
  for (; layer < log_rows; layer += 2) {
    const std::size_t half = std::size_t{1} << layer;
    for (std::size_t block = 0; block >> log_rows == 0; block += 4 * half) {
      for (std::size_t i = 0; i < half; ++i) {
        double_butterfly(rows + (block + i) * lanes, half * lanes, twiddles[half - 1 + i], twiddles[2 * half - 1 + i],
                         twiddles[3 * half - 1 + i], lanes);
      }
    }
  }
}

void scale(F factor, const F* HWY_RESTRICT values, std::size_t count, F* HWY_RESTRICT products) {
  const D64 d;
  const V64 factors = hn::Set(d, factor.value());
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(multiply(hn::LoadU(d, words(values + i)), factors), d, words(products + i));
  }
  for (; i < count; ++i) {
    products[i] = factor * values[i];
  }
}

void add_scaled(F factor, const F* HWY_RESTRICT values, std::size_t count, F* HWY_RESTRICT sums) {
  const D64 d;
  const V64 factors = hn::Set(d, factor.value());
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const V64 product = multiply(hn::LoadU(d, words(values + i)), factors);
    hn::StoreU(add(hn::LoadU(d, words(sums + i)), product), d, words(sums + i));
  }
  for (; i < count; ++i) {
    sums[i] += factor * values[i];
  }
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(transform_group);
HWY_EXPORT(scale);
HWY_EXPORT(add_scaled);

void transform_group(F* rows, unsigned first_layer, unsigned log_rows, std::size_t lanes, const F* twiddles) {
  HWY_DYNAMIC_DISPATCH(transform_group)(rows, first_layer, log_rows, lanes, twiddles);
}
void scale(F factor, const F* values, std::size_t count, F* products) {
  HWY_DYNAMIC_DISPATCH(scale)(factor, values, count, products);
}
void add_scaled(F factor, const F* values, std::size_t count, F* sums) {
  HWY_DYNAMIC_DISPATCH(add_scaled)(factor, values, count, sums);
}

}  // namespace tessera
#endif  // HWY_ONCE
