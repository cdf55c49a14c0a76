#include <hwy/cache_control.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "field/ntt_kernels.hpp"
#include "field/scale_kernels.hpp"

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

/// Multiplies by any twiddle.
template <class T>
struct ByFactor {
  T factor;
  HWY_INLINE explicit ByFactor(F twiddle) : factor(repeat<T>(twiddle)) {}
  HWY_INLINE T operator()(T x) const { return multiply_shifted(x, factor); }
};

/// Multiplies by 2^(32*words + bits), bits < 32, in a third of the steps: 2^96 = -1.
template <unsigned words>
struct ByPower {
  int bits;
  HWY_INLINE V operator()(V x) const {
    constexpr bool negative = words >= 3;
    const V y = shifted(x);
    return negative ? subtract(hn::Zero(Lanes()), y) : y;
  }

 private:
  HWY_INLINE static V times_epsilon(V half) { return hn::Sub(hn::ShiftLeft<32>(half), half); }
  // x * 2^bits = low + middle*2^32 + top*2^64, all below 2^32
  [[nodiscard]] HWY_INLINE V shifted(V x) const {
    const V middle_and_low = hn::ShiftLeftSame(x, bits);
    const V top_and_middle = hn::ShiftRightSame(x, 32 - bits);
    const V top = hn::ShiftRight<32>(top_and_middle);
    if constexpr (words % 3 == 0) {  // 2^64 = epsilon
      return canonical(add_weak(middle_and_low, times_epsilon(top)));
    } else if constexpr (words % 3 == 1) {
      return reduce({hn::ShiftLeft<32>(middle_and_low), top_and_middle});
    } else {  // 2^96 = -1
      return subtract(times_epsilon(hn::And(middle_and_low, epsilon())), top_and_middle);
    }
  }
};

/// The twiddles of a butterfly: of its own layer, and of its upper two in the layer above.
template <class Low, class Even, class Odd>
struct Twiddles {
  Low low;
  Even even;
  Odd odd;
};

/// Twiddles [2^t - 1 + i] of layer t.
struct Layer {
  const F* twiddles;
  std::size_t half;  ///< 2^t: a butterfly is on rows `half` apart
  /// Twiddles of butterfly i on two rows, or on four.
  template <class T, std::size_t rows>
  [[nodiscard]] HWY_INLINE auto factors(std::size_t i) const {
    const ByFactor<T> low(twiddles[half - 1 + i]);
    if constexpr (rows == 2) {
      return Twiddles{low, low, low};
    } else {
      return Twiddles{low, ByFactor<T>(twiddles[2 * half - 1 + i]), ByFactor<T>(twiddles[3 * half - 1 + i])};
    }
  }
  /// body() of them
  template <std::size_t rows, class Body>
  HWY_INLINE void with(std::size_t i, const Body& body) const {
    body(factors<V, rows>(i));
  }
};

/// body(std::integral_constant of `value`), for 0 <= value < count.
template <unsigned count, class Body>
HWY_INLINE void with_constant(unsigned value, const Body& body) {
  if constexpr (count == 1) {
    body(std::integral_constant<unsigned, 0>());
  } else if (value == count - 1) {
    body(std::integral_constant<unsigned, count - 1>());
  } else {
    with_constant<count - 1>(value, body);
  }
}

/// The same where this layer's twiddles are powers of 2.
struct LowPowers : Layer {
  const std::uint8_t* exponents;
  template <std::size_t rows, class Body>
  HWY_INLINE void with(std::size_t i, const Body& body) const {
    const unsigned exponent = exponents[half - 1 + i];
    with_constant<6>(exponent / 32, [&](auto words) {
      const auto others = factors<V, rows>(i);
      body(Twiddles{ByPower<words()>{static_cast<int>(exponent % 32)}, others.even, others.odd});
    });
  }
};

/// The same where those of the layer above are as well. One exponent says all: i's in this layer is twice as large, the
/// odd one is 48 or 144 more.
struct AllPowers : Layer {
  const std::uint8_t* exponents;
  template <std::size_t rows, class Body>
  HWY_INLINE void with(std::size_t i, const Body& body) const {
    const unsigned exponent = exponents[2 * half - 1 + i];
    constexpr unsigned order = FirstTwiddles::order_of_two;
    const bool far = (exponents[2] + order - exponents[1]) % order != 48;  // the root of order 4
    with_constant<12>(exponent / 16, [&](auto place) {
      constexpr unsigned sixteen = place();
      const auto bits = [&](unsigned more) { return static_cast<int>(exponent % 16 + more % 2 * 16); };
      const ByPower<sixteen % 6> low{2 * bits(0)};
      const ByPower<sixteen / 2> even{bits(sixteen)};
      const ByPower<(sixteen + 3) % 12 / 2> odd{bits(sixteen + 3)};
      if (far) {
        body(Twiddles{low, even, ByPower<(sixteen + 9) % 12 / 2>{odd.bits}});
      } else {
        body(Twiddles{low, even, odd});
      }
    });
  }
};

/// (x0, x1) := (x0 + w*x1, x0 - w*x1) with low index i, from rows first, first + half.
template <class T>
struct Pair {
  static constexpr std::size_t rows = 2;
  T x0, x1;
  HWY_INLINE Pair(Rows in, std::size_t first, std::size_t half, std::size_t lane)
      : x0(load<T>(in[first] + lane)), x1(load<T>(in[first + half] + lane)) {}
  template <class Any>
  HWY_INLINE void transform(const Any& twiddles, Rows out, std::size_t first, std::size_t half,
                            std::size_t lane) const {
    const T y = twiddles.low(x1);
    store(add(x0, y), out[first] + lane);
    store(subtract(x0, y), out[first + half] + lane);
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
  template <class Any>
  HWY_INLINE void transform(const Any& twiddles, Rows out, std::size_t first, std::size_t half,
                            std::size_t lane) const {
    const T y1 = twiddles.low(x1);
    const T y3 = twiddles.low(x3);
    const T a0 = add(x0, y1);
    const T a1 = subtract(x0, y1);
    const T b2 = twiddles.even(add(x2, y3));
    const T b3 = twiddles.odd(subtract(x2, y3));
    store(add(a0, b2), out[first] + lane);
    store(add(a1, b3), out[first + half] + lane);
    store(subtract(a0, b2), out[first + 2 * half] + lane);
    store(subtract(a1, b3), out[first + 3 * half] + lane);
  }
};

/// All butterflies of a step on the rows.
template <template <class> class Butterfly, class AnyLayer>
HWY_INLINE void step(Rows in, Rows out, AnyLayer layer, std::size_t row_count, std::size_t lanes) {
  const std::size_t vectors = lanes - lanes % hn::Lanes(Lanes());
  const std::size_t half = layer.half;
  for (std::size_t block = 0; block < row_count; block += Butterfly<F>::rows * half) {
    for (std::size_t i = 0; i < half; ++i) {
      layer.template with<Butterfly<F>::rows>(i, [&](const auto& twiddles) {
        for (std::size_t lane = 0; lane < vectors; lane += hn::Lanes(Lanes())) {
          Butterfly<V>(in, block + i, half, lane).transform(twiddles, out, block + i, half, lane);
        }
      });
      for (std::size_t lane = vectors; lane < lanes; ++lane) {
        Butterfly<F>(in, block + i, half, lane)
            .transform(layer.template factors<F, Butterfly<F>::rows>(i), out, block + i, half, lane);
      }
    }
  }
}

/// The first step after padding, in place: only every layer.half-th row is there, and what the layers below would make
/// of it is its copies.
template <template <class> class Butterfly, class AnyLayer>
HWY_INLINE void padded_step(Rows rows, AnyLayer layer, std::size_t row_count, std::size_t lanes) {
  const std::size_t half = layer.half;
  for (std::size_t block = 0; block < row_count; block += Butterfly<F>::rows * half) {
    for (std::size_t row = 0; row < Butterfly<F>::rows && half > 1; ++row) {
      for (std::size_t i = 1; i < half; ++i) {
        std::copy_n(rows[block + row * half], lanes, rows[block + row * half + i]);
      }
    }
  }
  step<Butterfly>(rows, rows, layer, row_count, lanes);
}

void transform_padded_kernel(F* data, std::size_t stride, unsigned log_padding, unsigned log_rows, std::size_t lanes,
                             const FirstTwiddles& twiddles) {
  const Rows rows{data, stride};
  const std::size_t count = std::size_t{1} << log_rows;
  const std::uint8_t* const exponents = twiddles.exponents();
  // body(layer t, by what its twiddles are)
  const auto with_layer = [&](unsigned t, unsigned layers, const auto& body) {
    const Layer layer{twiddles.factors(), std::size_t{1} << t};
    if (layers == 2 && t + layers <= twiddles.power_layers()) {
      body(AllPowers{layer, exponents});
    } else if (t < twiddles.power_layers()) {
      body(LowPowers{layer, exponents});
    } else {
      body(layer);
    }
  };
  unsigned t = log_padding;
  if (t == log_rows) {  // a constant
    for (std::size_t row = 1; row < count; ++row) {
      std::copy_n(rows[0], lanes, rows[row]);
    }
  } else if ((log_rows - t) % 2 == 1) {
    with_layer(t, 1, [&](auto layer) { padded_step<Pair>(rows, layer, count, lanes); });
    ++t;
  } else {
    with_layer(t, 2, [&](auto layer) { padded_step<Quad>(rows, layer, count, lanes); });
    t += 2;
  }
  for (; t < log_rows; t += 2) {
    with_layer(t, 2, [&](auto layer) { step<Quad>(rows, rows, layer, count, lanes); });
  }
}

void transform_rows_kernel(F* data, unsigned log_rows, std::size_t lanes, const F* twiddles) {
  const Rows rows{data, lanes};
  const std::size_t count = std::size_t{1} << log_rows;
  const auto layer_at = [&](unsigned t) { return Layer{twiddles, std::size_t{1} << t}; };
  unsigned t = 0;
  if (log_rows % 2 == 1) {
    step<Pair>(rows, rows, layer_at(t), count, lanes);
    ++t;
  }
  for (; t < log_rows; t += 2) {
    step<Quad>(rows, rows, layer_at(t), count, lanes);
  }
}

HWY_INLINE void copy_slot(const F* from, std::size_t lanes, F* to) {
  std::size_t lane = 0;
  for (; lane + hn::Lanes(Lanes()) <= lanes; lane += hn::Lanes(Lanes())) {
    store(load<V>(from + lane), to + lane);
  }
  std::copy_n(from + lane, lanes - lane, to + lane);
}
/// `to` is aligned to a vector, and lanes are whole ones.
HWY_INLINE void stream_slot(const F* from, std::size_t lanes, F* to) {
  for (std::size_t lane = 0; lane < lanes; lane += hn::Lanes(Lanes())) {
    hn::Stream(load<V>(from + lane), Lanes(), words(to + lane));
  }
}

void take_rows_kernel(const F* from, const SlotGrid& grid, F* to) {
  for (std::size_t row = 0; row < grid.rows; ++row) {
    for (std::size_t i = 0; i < grid.neighbours; ++i) {
      copy_slot(from + row * grid.distance + i * grid.stride, grid.lanes, to + (i * grid.rows + row) * grid.lanes);
    }
  }
}

void put_rows_kernel(const F* from, const SlotGrid& grid, F* to, bool stream) {
  const std::size_t vector = hn::Lanes(Lanes());
  stream = stream && grid.lanes % vector == 0 && grid.stride % vector == 0 && grid.distance % vector == 0 &&
           reinterpret_cast<std::uintptr_t>(to) % (vector * sizeof(F)) == 0;
  for (std::size_t row = 0; row < grid.rows; ++row) {
    for (std::size_t i = 0; i < grid.neighbours; ++i) {
      const F* const slot = from + (i * grid.rows + row) * grid.lanes;
      F* const place = to + row * grid.distance + i * grid.stride;
      stream ? stream_slot(slot, grid.lanes, place) : copy_slot(slot, grid.lanes, place);
    }
  }
  if (stream) {
    hwy::FlushStream();  // other threads read it
  }
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
namespace {

constexpr unsigned log_of_powers = 6;  // roots of order 2^6 are powers of 2

unsigned exponent_of(F power_of_two) {
  const F two = F::from_canonical(2);
  unsigned exponent = 0;
  for (F power = F::one(); power != power_of_two; power *= two) {
    ++exponent;
  }
  return exponent;
}

}  // namespace

FirstTwiddles::FirstTwiddles(unsigned log_rows, Coset coset) : factors_(own_twiddles(log_rows)) {
  for (; coset.log_count > 0 && coset.number % 2 == 0; --coset.log_count) {
    coset.number /= 2;
  }
  power_layers_ = log_of_powers - std::min(log_of_powers, coset.log_count);
  for (unsigned t = 0; t < std::max(log_rows, power_layers_); ++t) {
    const std::size_t first = (std::size_t{1} << t) - 1;
    const F shift = F::root_of_unity(t + 1 + coset.log_count).power(coset.number);
    if (t < log_rows && coset.number != 0) {
      scale(shift, factors_.data() + first, first + 1, factors_.data() + first);
    }
    if (t < power_layers_) {
      const unsigned of_root = exponent_of(F::root_of_unity(t + 1));
      for (unsigned i = 0, exponent = exponent_of(shift); i <= first; ++i, exponent += of_root) {
        exponents_.push_back(static_cast<std::uint8_t>(exponent % order_of_two));
      }
    }
  }
}

HWY_EXPORT(transform_padded_kernel);
HWY_EXPORT(transform_rows_kernel);
HWY_EXPORT(take_rows_kernel);
HWY_EXPORT(put_rows_kernel);

void transform_padded(F* rows, std::size_t stride, unsigned log_padding, unsigned log_rows, std::size_t lanes,
                      const FirstTwiddles& twiddles) {
  HWY_DYNAMIC_DISPATCH(transform_padded_kernel)(rows, stride, log_padding, log_rows, lanes, twiddles);
}
void transform_rows(F* rows, unsigned log_rows, std::size_t lanes, const F* twiddles) {
  HWY_DYNAMIC_DISPATCH(transform_rows_kernel)(rows, log_rows, lanes, twiddles);
}

void take_rows(const F* from, const SlotGrid& grid, F* to) { HWY_DYNAMIC_DISPATCH(take_rows_kernel)(from, grid, to); }
void put_rows(const F* from, const SlotGrid& grid, F* to, bool stream) {
  HWY_DYNAMIC_DISPATCH(put_rows_kernel)(from, grid, to, stream);
}

}  // namespace tessera
#endif  // HWY_ONCE
