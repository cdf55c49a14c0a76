#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "field/ntt_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/ntt_kernels_prove.cpp"
#include <hwy/foreach_target.h>

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

/// Rows of a transform: row r begins at data + r * stride, and `gap` further for each 2^log_group rows before it.
struct Rows {
  F* data;
  std::size_t stride;
  std::size_t gap;
  unsigned log_group;
  HWY_INLINE F* operator[](std::size_t row) const { return data + row * stride + (row >> log_group) * gap; }
};

/// Shorter vectors are read and written whole where only some lanes are asked for.
constexpr bool masks_are_exact = hn::MaxLanes(Lanes()) >= 4;

/// One butterfly: 2^layers rows, `distance` values apart. `unit`: all twiddles are 1, and the rows canonical. `last`:
/// the results are to be canonical.
template <unsigned layers, bool unit, bool last, class Access>
HWY_INLINE void butterfly(const Access& access, F* rows, std::size_t distance, const F* twiddles) {
  constexpr std::size_t count = std::size_t{1} << layers;
  constexpr std::size_t side_by_side = std::min(count, chains);
  typename Access::Value x[count];
  unrolled<count>([&](auto row) TESSERA_WRITTEN_OUT { x[row] = access.load(rows + row * distance); });
  if constexpr (!unit) {
    multiply_shifted<side_by_side - 1>(x + 1, twiddles + 1);  // that of row 0 is 1
    unrolled<count / side_by_side - 1>([&](auto before) TESSERA_WRITTEN_OUT {
      constexpr std::size_t first = (before() + 1) * side_by_side;
      multiply_shifted<side_by_side>(x + first, twiddles + first);
    });
  }
  unrolled<count>([&](auto row) TESSERA_WRITTEN_OUT {
    if constexpr (row % 2 == 0) {
      x[row] = unit || row == 0 ? keep(x[row]) : x[row];
    } else {
      x[row] = unit ? x[row] : canonical_of_product(x[row]);
    }
  });
  short_transform<layers>(x);
  unrolled<count>([&](auto row) TESSERA_WRITTEN_OUT {
    access.store(last ? canonical_of_kept(x[row]) : weak_of_kept(x[row]), rows + row * distance);
  });
}

/// All butterflies of `layers` layers from the one with half = 2^layer on. `unit`: all twiddles of the first of `half`
/// butterflies are 1, and the rows canonical.
template <unsigned layers, bool unit, bool last>
void step(Rows rows, std::size_t half, std::size_t row_count, std::size_t lanes, const F* twiddles) {
  const std::size_t of_vector = hn::Lanes(Lanes());
  const std::size_t vectors = lanes - lanes % of_vector;
  const bool masked = masks_are_exact && 2 * (lanes - vectors) >= of_vector;
  const SomeLanes rest{hn::FirstN(Lanes(), lanes - vectors)};
  const auto distance =
      static_cast<std::size_t>(rows[half] - rows[0]);  // no group ends inside a butterfly but the last
  const auto run = [&](auto ones, F* first, const F* own) {
    constexpr bool without_products = decltype(ones)::value;
    for (std::size_t lane = 0; lane < vectors; lane += of_vector) {
      butterfly<layers, without_products, last>(AllLanes(), first + lane, distance, own);
    }
    if (masked) {
      butterfly<layers, without_products, last>(rest, first + vectors, distance, own);
    }
    for (std::size_t lane = vectors; lane < lanes && !masked; ++lane) {
      butterfly<layers, without_products, last>(OneLane(), first + lane, distance, own);
    }
  };
  for (std::size_t block = 0; block < row_count; block += half << layers) {
    if constexpr (unit) {
      run(std::true_type(), rows[block], twiddles);
    }
    for (std::size_t i = unit ? 1 : 0; i < half; ++i) {
      run(std::false_type(), rows[block + i], twiddles + (i << layers));
    }
  }
}

template <unsigned layers>
HWY_INLINE void step(Rows rows, const PassTwiddles& twiddles, std::size_t index, std::size_t lanes) {
  const std::size_t half = std::size_t{1} << twiddles.steps()[index].first;
  const std::size_t count = std::size_t{1} << twiddles.log_rows();
  const F* const factors = twiddles.factors(index);
  const bool last = index + 1 == twiddles.steps().size();
  if (index == 0 && twiddles.unit()) {
    last ? step<layers, true, true>(rows, half, count, lanes, factors)
         : step<layers, true, false>(rows, half, count, lanes, factors);
  } else {
    last ? step<layers, false, true>(rows, half, count, lanes, factors)
         : step<layers, false, false>(rows, half, count, lanes, factors);
  }
}

void transform_rows_kernel(F* data, std::size_t stride, std::size_t gap, std::size_t lanes,
                           const PassTwiddles& twiddles) {
  const Rows rows{data, stride, gap, twiddles.log_group()};
  // after padding every 2^log_padding-th row is there, and what the layers below would make of it is its copies
  const std::size_t copies = std::size_t{1} << twiddles.log_padding();
  for (std::size_t row = 0; row >> twiddles.log_rows() == 0 && copies > 1; row += copies) {
    for (std::size_t i = 1; i < copies; ++i) {
      std::copy_n(rows[row], lanes, rows[row + i]);
    }
  }
  for (std::size_t index = 0; index < twiddles.steps().size(); ++index) {
    switch (twiddles.steps()[index].count) {
      case 1:
        step<1>(rows, twiddles, index, lanes);
        break;
      case 2:
        step<2>(rows, twiddles, index, lanes);
        break;
      case 3:
        step<3>(rows, twiddles, index, lanes);
        break;
      default:
        step<4>(rows, twiddles, index, lanes);
    }
  }
}

/// products[i] = factors[i mod 16] * values[i]
void scale_by_pattern_kernel(const F* factors, const F* values, std::size_t count, F* products) {
  constexpr std::size_t period = TransformStep::most_rows;
  std::size_t i = 0;
  for (; i + hn::Lanes(Lanes()) <= count; i += hn::Lanes(Lanes())) {
    store(multiply(load(values + i), load(factors + i % period)), products + i);
  }
  for (; i < count; ++i) {
    products[i] = factors[i % period] * values[i];
  }
}

HWY_INLINE void copy_slot(const F* from, std::size_t lanes, F* to) {
  std::size_t lane = 0;
  for (; lane + hn::Lanes(Lanes()) <= lanes; lane += hn::Lanes(Lanes())) {
    store(load(from + lane), to + lane);
  }
  if (const std::size_t rest = lanes - lane; masks_are_exact && rest > 0) {
    const SomeLanes some{hn::FirstN(Lanes(), rest)};
    some.store(some.load(from + lane), to + lane);
  } else {
    std::copy_n(from + lane, rest, to + lane);
  }
}
/// `to` is aligned to a vector, and lanes are whole ones.
HWY_INLINE void stream_slot(const F* from, std::size_t lanes, F* to) {
  for (std::size_t lane = 0; lane < lanes; lane += hn::Lanes(Lanes())) {
    hn::Stream(load(from + lane), Lanes(), words(to + lane));
  }
}

void take_rows_kernel(const F* from, const SlotGrid& grid, const PassTwiddles& twiddles, F* to) {
  const std::size_t size = twiddles.size(grid.lanes);
  for (std::size_t row = 0; row < grid.rows; ++row) {
    F* const place = to + twiddles.place(row, grid.lanes);
    for (std::size_t i = 0; i < grid.neighbours; ++i) {
      copy_slot(from + row * grid.distance + i * grid.stride, grid.lanes, place + i * size);
    }
  }
}

/// Slots one after the other to where place(row, i) says.
template <class From, class To>
HWY_INLINE void put_slots(const SlotGrid& grid, std::size_t rows, const From& slot, const To& place, F* to,
                          bool stream) {
  const std::size_t vector = hn::Lanes(Lanes());
  stream = stream && grid.lanes % vector == 0 && grid.stride % vector == 0 && grid.distance % vector == 0 &&
           reinterpret_cast<std::uintptr_t>(to) % (vector * sizeof(F)) == 0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < grid.neighbours; ++i) {
      stream ? stream_slot(slot(row, i), grid.lanes, place(row, i))
             : copy_slot(slot(row, i), grid.lanes, place(row, i));
    }
  }
  if (stream) {
    hwy::FlushStream();  // other threads read it
  }
}

void put_rows_kernel(const F* from, const SlotGrid& grid, const PassTwiddles& twiddles, F* to, bool stream) {
  const std::size_t size = twiddles.size(grid.lanes);
  put_slots(
      grid, grid.rows,
      [&](std::size_t row, std::size_t i) { return from + twiddles.place(row, grid.lanes) + i * size; },
      [&](std::size_t row, std::size_t i) { return to + row * grid.distance + i * grid.stride; }, to, stream);
}

void put_runs_kernel(const F* from, const SlotGrid& grid, const PassTwiddles& twiddles, F* to, bool stream) {
  put_slots(
      grid, grid.rows / grid.neighbours,
      [&](std::size_t run, std::size_t i) { return from + twiddles.place(run * grid.neighbours + i, grid.lanes); },
      [&](std::size_t run, std::size_t i) { return to + run * grid.distance + i * grid.stride; }, to, stream);
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {

HWY_EXPORT(transform_rows_kernel);
HWY_EXPORT(scale_by_pattern_kernel);
HWY_EXPORT(take_rows_kernel);
HWY_EXPORT(put_rows_kernel);
HWY_EXPORT(put_runs_kernel);

PassTwiddles::PassTwiddles(unsigned log_rows, unsigned log_padding) : log_rows_(log_rows), log_padding_(log_padding) {
  const unsigned layers = log_rows - log_padding;
  const unsigned count = (layers + TransformStep::most_layers - 1) / TransformStep::most_layers;
  for (unsigned i = 0, first = log_padding; i < count; ++i) {  // as even as can be, short ones first
    steps_.push_back({first, (log_rows - first) / (count - i), factors_.size()});
    first += steps_.back().count;
    factors_.resize(factors_.size() + (std::size_t{1} << first));
  }
  for (const TransformStep& step : steps_) {
    const F root = F::root_of_unity(step.first + step.count);
    F own = F::one();
    for (std::size_t i = 0; i >> step.first == 0; ++i, own *= root) {
      F power = F::from_canonical(0xFFFFFFFF);  // 2^64
      for (std::size_t k = 0; k >> step.count == 0; ++k, power *= own) {
        factors_[step.offset + (i << step.count) + bit_reverse(k, step.count)] = power;
      }
    }
  }
}

void PassTwiddles::set_coset(const PassTwiddles& plain, Coset coset) {
  unit_ = coset.number == 0;
  if (unit_) {
    factors_ = plain.factors_;
    return;
  }
  for (const TransformStep& step : steps_) {
    const F shift = F::root_of_unity(step.first + step.count + coset.log_count).power(coset.number);
    std::array<F, TransformStep::most_rows> pattern;
    F power = F::one();
    for (std::size_t k = 0; k >> step.count == 0; ++k, power *= shift) {
      pattern[bit_reverse(k, step.count)] = power;
    }
    for (std::size_t i = std::size_t{1} << step.count; i < pattern.size(); ++i) {
      pattern[i] = pattern[i - (std::size_t{1} << step.count)];
    }
    HWY_DYNAMIC_DISPATCH(scale_by_pattern_kernel)
    (pattern.data(), plain.factors_.data() + step.offset, std::size_t{1} << (step.first + step.count),
     factors_.data() + step.offset);
  }
}

void transform_rows(F* rows, std::size_t stride, std::size_t lanes, const PassTwiddles& twiddles) {
  HWY_DYNAMIC_DISPATCH(transform_rows_kernel)(rows, stride, 0, lanes, twiddles);
}
void transform_rows(F* rows, std::size_t lanes, const PassTwiddles& twiddles) {
  HWY_DYNAMIC_DISPATCH(transform_rows_kernel)(rows, lanes, PassTwiddles::gap, lanes, twiddles);
}

void take_rows(const F* from, const SlotGrid& grid, const PassTwiddles& twiddles, F* to) {
  HWY_DYNAMIC_DISPATCH(take_rows_kernel)(from, grid, twiddles, to);
}
void put_rows(const F* from, const SlotGrid& grid, const PassTwiddles& twiddles, F* to, bool stream) {
  HWY_DYNAMIC_DISPATCH(put_rows_kernel)(from, grid, twiddles, to, stream);
}
void put_runs(const F* from, const SlotGrid& grid, const PassTwiddles& twiddles, F* to, bool stream) {
  HWY_DYNAMIC_DISPATCH(put_runs_kernel)(from, grid, twiddles, to, stream);
}

}  // namespace tessera
#endif  // HWY_ONCE
