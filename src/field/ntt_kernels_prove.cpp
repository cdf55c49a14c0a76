#include <hwy/cache_control.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "field/ntt_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/ntt_kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/short_transform-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

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
