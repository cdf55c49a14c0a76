#include <algorithm>
#include <cassert>
#include <cstring>
#include <tessera/field/ntt.hpp>
#include <tessera/memory/storage.hpp>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/ntt_prove.cpp"
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

/// Layers first_layer .. log_rows-1 of a transform of 2^log_rows rows of `lanes` values; twiddles[2^t - 1 + i] belongs
/// to the butterflies of layer t with low index i.
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

/// products[i] = factor * values[i].
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

/// sums[i] += factor * values[i].
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

namespace {

/// A pass's rows stay in this much cache (half of a common L2).
constexpr std::size_t group_bytes = 512 * 1024;

/// Twiddles of a transform of its own of 2^log_rows rows: [2^t - 1 + i] = w^i * 2^64, w of order 2^(t+1).
std::vector<F> fill_twiddles(unsigned log_rows) {
  std::vector<F> twiddles(std::size_t{1} << log_rows);
  for (unsigned t = 0; t < log_rows; ++t) {
    const F root = F::root_of_unity(t + 1);
    F power = F::from_canonical(0xFFFFFFFF);
    for (std::size_t i = 0; i >> t == 0; ++i, power *= root) {
      twiddles[(std::size_t{1} << t) - 1 + i] = power;
    }
  }
  return twiddles;
}

/// One pass: layers [first, first + count) of the whole transform. Layer `first + t` pairs slots 2^(first+t) apart, so
/// the pass splits into groups of 2^count slots, 2^first apart, that are transformed inside the cache.
struct Pass {
  unsigned first = 0;
  unsigned count = 0;
};

std::vector<Pass> plan_passes(unsigned log_length, std::size_t lanes, unsigned log_padding) {
  unsigned largest = 1;
  while (largest < 12 && (lanes * sizeof(F)) << (largest + 1) <= group_bytes) {
    ++largest;
  }
  largest = std::max(largest, log_padding);  // replication happens inside the first pass
  const unsigned passes = std::max(1U, (log_length + largest - 1) / largest);
  std::vector<Pass> plan;
  for (unsigned i = 0, first = 0; i < passes; ++i) {
    // the first pass takes the odd layers, and the padding's
    const unsigned rest = log_length - first;
    const unsigned count = std::max((rest + passes - i - 1) / (passes - i), i == 0 ? log_padding : 0U);
    plan.push_back({first, count});
    first += count;
  }
  return plan;
}

/// The rows that padding left out: copies of the row before.
void replicate(F* rows, unsigned log_rows, std::size_t lanes, unsigned log_padding) {
  for (std::size_t row = 0; log_padding > 0 && row >> log_rows == 0; ++row) {
    const std::size_t source = row >> log_padding << log_padding;
    if (row != source) {
      std::memcpy(static_cast<void*>(rows + row * lanes), rows + source * lanes, lanes * sizeof(F));
    }
  }
}

/// The twiddles of a later pass for slots with low index `low`: those of a transform of its own times
/// w^low, w of order 2^(pass.first + t + 1).
void shift_twiddles(const std::vector<F>& own, Pass pass, std::size_t low, std::vector<F>& twiddles) {
  F shift = F::root_of_unity(pass.first + pass.count).power(low);
  for (unsigned t = pass.count; t-- > 0; shift *= shift) {
    const std::size_t first = (std::size_t{1} << t) - 1;
    HWY_DYNAMIC_DISPATCH(scale)(shift, own.data() + first, std::size_t{1} << t, twiddles.data() + first);
  }
}

}  // namespace

void ntt(std::span<F> data, unsigned log_length, std::size_t lanes, unsigned log_padding) {
  assert(data.size() == lanes << log_length && log_padding <= log_length);
  if (lanes == 0) {
    return;
  }
  // not the pointer: before the first call of any kernel it is a detour that asks the processor each time
  const auto transform = [](auto... arguments) { HWY_DYNAMIC_DISPATCH(transform_group)(arguments...); };
  for (const Pass pass : plan_passes(log_length, lanes, log_padding)) {
    const std::vector<F> own = fill_twiddles(pass.count);
    const std::size_t rows = std::size_t{1} << pass.count;
    const std::size_t lows = std::size_t{1} << pass.first;
    const std::size_t blocks = std::size_t{1} << (log_length - pass.count - pass.first);
#pragma omp parallel
    {
      std::vector<F> twiddles(pass.first == 0 ? 0 : rows);
      RawVector<F> scratch(pass.first == 0 ? 0 : rows * lanes);
      std::size_t filled = lows;  // the low index that `twiddles` belongs to
#pragma omp for schedule(static)
      for (std::size_t group = 0; group < lows * blocks; ++group) {
        const std::size_t low = group / blocks;
        const std::size_t block = group % blocks;
        F* first = data.data() + ((block << (pass.first + pass.count)) + low) * lanes;
        if (pass.first == 0) {
          replicate(first, pass.count, lanes, log_padding);
          transform(first, log_padding, pass.count, lanes, own.data());
          continue;
        }
        if (filled != low) {
          shift_twiddles(own, pass, low, twiddles);
          filled = low;
        }
        // rows a power of two apart would fight for the same cache sets
        for (std::size_t row = 0; row < rows; ++row) {
          std::memcpy(static_cast<void*>(scratch.data() + row * lanes), first + row * lows * lanes, lanes * sizeof(F));
        }
        transform(scratch.data(), 0U, pass.count, lanes, twiddles.data());
        for (std::size_t row = 0; row < rows; ++row) {
          std::memcpy(static_cast<void*>(first + row * lows * lanes), scratch.data() + row * lanes, lanes * sizeof(F));
        }
      }
    }
  }
}

std::vector<F> ntt_at(std::span<F> data, unsigned log_length, std::size_t lanes, unsigned log_padding,
                      std::span<const std::size_t> positions) {
  assert(data.size() == lanes << log_length && log_padding <= log_length);
  std::vector<F> values(positions.size() * lanes);
  if (values.empty()) {
    return values;
  }
  // A transform inside each block of 2^log_rows slots, whose coefficients are those with one rest modulo 2^log_blocks:
  // value x is then sum_rest omega^(x*rest) * (entry x of the block's transform). Both halves cost about the same.
  const unsigned log_rows = std::max(log_padding, std::min(log_length, 9U));
  const unsigned log_blocks = log_length - log_rows;
  const std::size_t rows = std::size_t{1} << log_rows;
  const std::vector<F> own = fill_twiddles(log_rows);
  const F root = F::root_of_unity(log_length);
  std::vector<F> steps;
  for (const std::size_t position : positions) {
    steps.push_back(root.power(position));
  }
#pragma omp parallel
  {
    std::vector<F> sums(values.size());
    std::vector<F> powers(positions.size());  // omega^(position * rest)
    std::size_t known = 0;                    // the rest that they belong to, plus 1
#pragma omp for schedule(static)
    for (std::size_t rest = 0; rest < std::size_t{1} << log_blocks; ++rest) {
      F* block = data.data() + bit_reverse(rest, log_blocks) * rows * lanes;
      replicate(block, log_rows, lanes, log_padding);
      HWY_DYNAMIC_DISPATCH(transform_group)(block, log_padding, log_rows, lanes, own.data());
      for (std::size_t i = 0; i < positions.size(); ++i) {
        powers[i] = rest == known && rest > 0 ? powers[i] * steps[i] : steps[i].power(rest);
        HWY_DYNAMIC_DISPATCH(add_scaled)
        (powers[i], block + (positions[i] & (rows - 1)) * lanes, lanes, sums.data() + i * lanes);
      }
      known = rest + 1;
    }
#pragma omp critical
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += sums[i];
    }
  }
  return values;
}

}  // namespace tessera
#endif  // HWY_ONCE
