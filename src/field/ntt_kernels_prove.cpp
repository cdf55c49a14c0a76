#include <algorithm>

#include "field/ntt_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/ntt_kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/goldilocks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// The same butterflies on vectors and, for the lanes that do not fill one, on single elements. Twiddles are given
/// times 2^64 (Montgomery form); multiply_shifted takes the factor away again: 2^192 = 1, 2^128 = -2^32.
HWY_INLINE F multiply_shifted(F a, F twiddle) {
  return a * twiddle * F::from_canonical(F::modulus - (std::uint64_t{1} << 32));
}
HWY_INLINE F add(F a, F b) { return a + b; }
HWY_INLINE F subtract(F a, F b) { return a - b; }

template <class T>
HWY_INLINE T load(const F* from);
template <>
HWY_INLINE F load<F>(const F* from) {
  return *from;
}
template <>
HWY_INLINE V load<V>(const F* from) {
  return hn::LoadU(Lanes(), words(from));
}
HWY_INLINE void store(F value, F* to) { *to = value; }
HWY_INLINE void store(V value, F* to) { hn::StoreU(value, Lanes(), words(to)); }
template <class T>
HWY_INLINE T repeat(F value);
template <>
HWY_INLINE F repeat<F>(F value) {
  return value;
}
template <>
HWY_INLINE V repeat<V>(F value) {
  return hn::Set(Lanes(), value.value());
}

/// Rows of a transform: row r begins at data + r * stride.
struct Rows {
  F* data;
  std::size_t stride;
  HWY_INLINE F* operator[](std::size_t row) const { return data + row * stride; }
};

/// Twiddles [2^t - 1 + i] of layer t.
struct Layer {
  const F* twiddles;
  std::size_t half;  ///< 2^t: a butterfly is on rows `half` apart
  HWY_INLINE F low(std::size_t i) const { return twiddles[half - 1 + i]; }
  /// Of the layer above.
  HWY_INLINE F even(std::size_t i) const { return twiddles[2 * half - 1 + i]; }
  HWY_INLINE F odd(std::size_t i) const { return twiddles[3 * half - 1 + i]; }
};

/// (x0, x1) := (x0 + w*x1, x0 - w*x1) with low index i, from rows first, first + half.
template <class T>
struct Pair {
  static constexpr std::size_t rows = 2;
  T x0, x1;
  HWY_INLINE Pair(Rows in, std::size_t first, std::size_t half, std::size_t lane)
      : x0(load<T>(in[first] + lane)), x1(load<T>(in[first + half] + lane)) {}
  HWY_INLINE void transform(Layer layer, std::size_t i, Rows out, std::size_t first, std::size_t lane) const {
    const T y = multiply_shifted(x1, repeat<T>(layer.low(i)));
    store(add(x0, y), out[first] + lane);
    store(subtract(x0, y), out[first + layer.half] + lane);
  }
};

/// Two layers at once on four rows: (0,1) and (2,3), then (0,2) and (1,3).
template <class T>
struct Quad {
  static constexpr std::size_t rows = 4;
  T x0, x1, x2, x3;
  HWY_INLINE Quad(Rows in, std::size_t first, std::size_t half, std::size_t lane)
      : x0(load<T>(in[first] + lane)),
        x1(load<T>(in[first + half] + lane)),
        x2(load<T>(in[first + 2 * half] + lane)),
        x3(load<T>(in[first + 3 * half] + lane)) {}
  HWY_INLINE void transform(Layer layer, std::size_t i, Rows out, std::size_t first, std::size_t lane) const {
    const T low = repeat<T>(layer.low(i));
    const T y1 = multiply_shifted(x1, low);
    const T y3 = multiply_shifted(x3, low);
    const T a0 = add(x0, y1);
    const T a1 = subtract(x0, y1);
    const T b2 = multiply_shifted(add(x2, y3), repeat<T>(layer.even(i)));
    const T b3 = multiply_shifted(subtract(x2, y3), repeat<T>(layer.odd(i)));
    store(add(a0, b2), out[first] + lane);
    store(add(a1, b3), out[first + layer.half] + lane);
    store(subtract(a0, b2), out[first + 2 * layer.half] + lane);
    store(subtract(a1, b3), out[first + 3 * layer.half] + lane);
  }
};

/// All butterflies of a step on the rows.
template <template <class> class Butterfly>
HWY_INLINE void step(Rows in, Rows out, Layer layer, std::size_t row_count, std::size_t lanes) {
  const std::size_t vectors = lanes - lanes % hn::Lanes(Lanes());
  for (std::size_t block = 0; block < row_count; block += Butterfly<F>::rows * layer.half) {
    for (std::size_t i = 0; i < layer.half; ++i) {
      for (std::size_t lane = 0; lane < vectors; lane += hn::Lanes(Lanes())) {
        Butterfly<V>(in, block + i, layer.half, lane).transform(layer, i, out, block + i, lane);
      }
      for (std::size_t lane = vectors; lane < lanes; ++lane) {
        Butterfly<F>(in, block + i, layer.half, lane).transform(layer, i, out, block + i, lane);
      }
    }
  }
}

/// The first step after padding, in place: only every layer.half-th row is there, and what the layers below would make
/// of it is its copies.
template <template <class> class Butterfly>
HWY_INLINE void padded_step(Rows rows, Layer layer, std::size_t row_count, std::size_t lanes) {
  const std::size_t vectors = lanes - lanes % hn::Lanes(Lanes());
  for (std::size_t block = 0; block < row_count; block += Butterfly<F>::rows * layer.half) {
    for (std::size_t lane = 0; lane < vectors; lane += hn::Lanes(Lanes())) {
      const Butterfly<V> butterfly(rows, block, layer.half, lane);
      for (std::size_t i = 0; i < layer.half; ++i) {
        butterfly.transform(layer, i, rows, block + i, lane);
      }
    }
    for (std::size_t lane = vectors; lane < lanes; ++lane) {
      const Butterfly<F> butterfly(rows, block, layer.half, lane);
      for (std::size_t i = 0; i < layer.half; ++i) {
        butterfly.transform(layer, i, rows, block + i, lane);
      }
    }
  }
}

void transform_padded_kernel(F* data, std::size_t stride, unsigned log_padding, unsigned log_rows, std::size_t lanes,
                             const F* twiddles) {
  const Rows rows{data, stride};
  const std::size_t count = std::size_t{1} << log_rows;
  const auto layer_at = [&](unsigned t) { return Layer{twiddles, std::size_t{1} << t}; };
  unsigned t = log_padding;
  if (t == log_rows) {  // a constant
    for (std::size_t row = 1; row < count; ++row) {
      std::copy_n(rows[0], lanes, rows[row]);
    }
  } else if ((log_rows - t) % 2 == 1) {
    padded_step<Pair>(rows, layer_at(t), count, lanes);
    ++t;
  } else {
    padded_step<Quad>(rows, layer_at(t), count, lanes);
    t += 2;
  }
  for (; t < log_rows; t += 2) {
    step<Quad>(rows, rows, layer_at(t), count, lanes);
  }
}

void transform_strided_kernel(F* data, std::size_t stride, unsigned log_rows, std::size_t lanes, const F* twiddles,
                              F* scratch) {
  const Rows outside{data, stride};
  const Rows inside{scratch, lanes};
  const std::size_t count = std::size_t{1} << log_rows;
  const auto layer_at = [&](unsigned t) { return Layer{twiddles, std::size_t{1} << t}; };
  // the first step reads from outside, the last one writes there
  unsigned t = 0;
  if (log_rows % 2 == 1) {
    step<Pair>(outside, log_rows == 1 ? outside : inside, layer_at(t), count, lanes);
    ++t;
  }
  for (; t < log_rows; t += 2) {
    step<Quad>(t == 0 ? outside : inside, t + 2 == log_rows ? outside : inside, layer_at(t), count, lanes);
  }
}

/// products[i] = factor * values[i].
void scale_kernel(F factor, const F* HWY_RESTRICT values, std::size_t count, F* HWY_RESTRICT products) {
  const Lanes d;
  const V factors = hn::Set(d, factor.value());
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    store(multiply(load<V>(values + i), factors), products + i);
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
    store(add(load<V>(sums + i), multiply(load<V>(values + i), factors)), sums + i);
  }
  for (; i < count; ++i) {
    sums[i] += factor * values[i];
  }
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(transform_padded_kernel);
HWY_EXPORT(transform_strided_kernel);
HWY_EXPORT(scale_kernel);
HWY_EXPORT(add_scaled_kernel);

void transform_padded(F* rows, std::size_t stride, unsigned log_padding, unsigned log_rows, std::size_t lanes,
                      const F* twiddles) {
  HWY_DYNAMIC_DISPATCH(transform_padded_kernel)(rows, stride, log_padding, log_rows, lanes, twiddles);
}
void transform_strided(F* rows, std::size_t stride, unsigned log_rows, std::size_t lanes, const F* twiddles,
                       F* scratch) {
  HWY_DYNAMIC_DISPATCH(transform_strided_kernel)(rows, stride, log_rows, lanes, twiddles, scratch);
}
void scale(F factor, const F* values, std::size_t count, F* products) {
  HWY_DYNAMIC_DISPATCH(scale_kernel)(factor, values, count, products);
}
void add_scaled(F factor, const F* values, std::size_t count, F* sums) {
  HWY_DYNAMIC_DISPATCH(add_scaled_kernel)(factor, values, count, sums);
}

}  // namespace tessera
#endif  // HWY_ONCE
