#include <algorithm>
#include <cassert>
#include <cstring>
#include <tessera/field/ntt.hpp>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "field/ntt_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/goldilocks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// (a, b) := (a + w*b, a - w*b) lane by lane.
HWY_INLINE void butterfly(F* HWY_RESTRICT a, F* HWY_RESTRICT b, F w, std::size_t lanes) {
  const D64 d;
  const V64 twiddle = hn::Set(d, w.value());
  std::size_t lane = 0;
  for (; lane + hn::Lanes(d) <= lanes; lane += hn::Lanes(d)) {
    const V64 x = hn::LoadU(d, words(a + lane));
    const V64 y = multiply(hn::LoadU(d, words(b + lane)), twiddle);
    hn::StoreU(add(x, y), d, words(a + lane));
    hn::StoreU(subtract(x, y), d, words(b + lane));
  }
  for (; lane < lanes; ++lane) {
    const F x = a[lane];
    const F y = b[lane] * w;
    a[lane] = x + y;
    b[lane] = x - y;
  }
}

/// Layers first_layer .. log_rows-1 of a transform of 2^log_rows rows of `lanes` values; twiddles[2^t - 1 + i] belongs
/// to the butterflies of layer t with low index i.
void transform_group(F* rows, unsigned first_layer, unsigned log_rows, std::size_t lanes, const F* twiddles) {
  for (unsigned layer = first_layer; layer < log_rows; ++layer) {
    const std::size_t half = std::size_t{1} << layer;
    for (std::size_t block = 0; block >> log_rows == 0; block += 2 * half) {
      for (std::size_t i = 0; i < half; ++i) {
        F* row = rows + (block + i) * lanes;
        butterfly(row, row + half * lanes, twiddles[half - 1 + i], lanes);
      }
    }
  }
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(transform_group);

namespace {

/// A pass's rows stay in this much cache (half of a common L2).
constexpr std::size_t group_bytes = 256 * 1024;

/// omega^i for i < 2^(log_length-1).
std::vector<F> root_powers(unsigned log_length) {
  const F root = F::root_of_unity(log_length);
  const std::size_t count = log_length == 0 ? 1 : std::size_t{1} << (log_length - 1);
  const std::size_t block = std::min<std::size_t>(count, 4096);
  std::vector<F> powers(count);
#pragma omp parallel for schedule(static)
  for (std::size_t first = 0; first < count; first += block) {
    F power = root.power(first);
    for (std::size_t i = 0; i < block; ++i) {
      powers[first + i] = power;
      power *= root;
    }
  }
  return powers;
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

void fill_twiddles(std::vector<F>& twiddles, const std::vector<F>& powers, Pass pass, unsigned log_length,
                   std::size_t low) {
  for (unsigned t = 0; t < pass.count; ++t) {
    const unsigned shift = log_length - pass.first - t - 1;
    for (std::size_t i = 0; i >> t == 0; ++i) {
      twiddles[(std::size_t{1} << t) - 1 + i] = powers[(low + (i << pass.first)) << shift];
    }
  }
}

}  // namespace

void ntt(std::span<F> data, unsigned log_length, std::size_t lanes, unsigned log_padding) {
  assert(data.size() == lanes << log_length && log_padding <= log_length);
  if (lanes == 0) {
    return;
  }
  const std::vector<F> powers = root_powers(log_length);
  for (const Pass pass : plan_passes(log_length, lanes, log_padding)) {
    const std::size_t rows = std::size_t{1} << pass.count;
    const std::size_t lows = std::size_t{1} << pass.first;
    const std::size_t blocks = std::size_t{1} << (log_length - pass.count - pass.first);
#pragma omp parallel
    {
      std::vector<F> twiddles(rows);
      std::vector<F> scratch(pass.first == 0 ? 0 : rows * lanes);
      std::size_t filled = lows;  // the low index that `twiddles` belongs to
#pragma omp for schedule(static)
      for (std::size_t group = 0; group < lows * blocks; ++group) {
        const std::size_t low = group / blocks;
        const std::size_t block = group % blocks;
        if (filled != low) {
          fill_twiddles(twiddles, powers, pass, log_length, low);
          filled = low;
        }
        F* first = data.data() + ((block << (pass.first + pass.count)) + low) * lanes;
        if (pass.first == 0) {
          for (std::size_t row = 0; log_padding > 0 && row < rows; ++row) {
            const std::size_t source = row >> log_padding << log_padding;
            if (row != source) {
              std::memcpy(static_cast<void*>(first + row * lanes), first + source * lanes, lanes * sizeof(F));
            }
          }
          HWY_DYNAMIC_DISPATCH(transform_group)(first, log_padding, pass.count, lanes, twiddles.data());
          continue;
        }
        // rows a power of two apart would fight for the same cache sets
        for (std::size_t row = 0; row < rows; ++row) {
          std::memcpy(static_cast<void*>(scratch.data() + row * lanes), first + row * lows * lanes, lanes * sizeof(F));
        }
        HWY_DYNAMIC_DISPATCH(transform_group)(scratch.data(), 0, pass.count, lanes, twiddles.data());
        for (std::size_t row = 0; row < rows; ++row) {
          std::memcpy(static_cast<void*>(first + row * lows * lanes), scratch.data() + row * lanes, lanes * sizeof(F));
        }
      }
    }
  }
}

}  // namespace tessera
#endif  // HWY_ONCE
