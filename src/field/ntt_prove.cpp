#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include "field/ntt.hpp"
#include "memory/storage.hpp"
#include <vector>

#include "field/ntt_kernels.hpp"

namespace tessera {
namespace {

/// A pass's rows stay in this much cache: half of the second level's.
std::size_t group_bytes() {
  static const std::size_t bytes = [] {
    long second = 0;
#ifdef _SC_LEVEL2_CACHE_SIZE
    second = sysconf(_SC_LEVEL2_CACHE_SIZE);  // 0 or -1 where it is not known
#endif
    return std::clamp(static_cast<std::size_t>(std::max(second, 1024L * 1024)) / 2, std::size_t{512} * 1024,
                      std::size_t{2048} * 1024);
  }();
  return bytes;
}

/// Results of longer transforms go past the cache: they will be out of it anyway when they are read again.
constexpr std::size_t streamed_bytes = std::size_t{1} << 27;

/// One pass: layers [first, first + count) of the whole transform. Layer `first + t` pairs slots 2^(first+t) apart, so
/// the pass splits into groups of 2^count slots, 2^first apart, that are transformed inside the cache.
struct Pass {
  unsigned first = 0;
  unsigned count = 0;
};

std::vector<Pass> plan_passes(unsigned log_length, std::size_t stride, unsigned log_padding) {
  unsigned largest = 1;
  while (largest < 12 && (stride * sizeof(F)) << (largest + 1) <= group_bytes()) {
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

/// Layers [0, pass.count): neighbouring slots. They hold coefficients that are far apart; as many neighbours of these
/// as fit in the cache are put in at once, and go to `data` when they are transformed.
void first_pass(std::span<F> data, unsigned log_length, std::size_t lanes, unsigned log_padding, std::size_t stride,
                Pass pass, Coset coset, const PutCoefficients& put) {
  const PassTwiddles plain(pass.count, log_padding);
  PassTwiddles twiddles = plain;
  twiddles.set_coset(plain, coset);
  const unsigned log_distance = log_length - pass.count;
  const std::size_t group = stride << pass.count;
  if (!put) {
#pragma omp parallel for schedule(static)
    for (std::size_t place = 0; place < std::size_t{1} << log_distance; ++place) {
      transform_rows(data.data() + place * group, stride, lanes, twiddles);
    }
    return;
  }
  const std::size_t fitting = std::bit_floor(std::clamp<std::size_t>(group_bytes() / (group * sizeof(F)), 1, 32));
  const std::size_t neighbours = std::min(fitting, std::size_t{1} << log_distance);
#pragma omp parallel
  {
    RawVector<F> scratch(neighbours * twiddles.size(lanes));
#pragma omp for schedule(static)
    for (std::size_t first = 0; first < std::size_t{1} << log_distance; first += neighbours) {
      put({first, neighbours, log_distance, scratch.data(), twiddles.size(lanes), lanes, twiddles});
      for (std::size_t i = 0; i < neighbours; ++i) {
        F* const own = scratch.data() + i * twiddles.size(lanes);
        transform_rows(own, lanes, twiddles);
        const SlotGrid grid{stride, 0, std::size_t{1} << pass.count, 1, lanes};
        put_rows(own, grid, twiddles, data.data() + bit_reverse(first + i, log_distance) * group,
                 data.size_bytes() >= streamed_bytes);
      }
    }
  }
}

/// Layers that pair slots further apart. Slots with neighbouring low indices lie side by side: as many of them as fit
/// in the cache are moved there and back together, which touches a page less often.
void later_pass(std::span<F> data, unsigned log_length, std::size_t lanes, std::size_t stride, Pass pass, Coset coset) {
  const PassTwiddles plain(pass.count);
  const std::size_t rows = std::size_t{1} << pass.count;
  const std::size_t lows = std::size_t{1} << pass.first;
  const std::size_t blocks = std::size_t{1} << (log_length - pass.count - pass.first);
  const std::size_t fitting =
      std::bit_floor(std::clamp<std::size_t>(group_bytes() / (rows * lanes * sizeof(F)), 1, 32));
  const std::size_t neighbours = std::min(fitting, lows);
#pragma omp parallel
  {
    std::vector<PassTwiddles> twiddles(neighbours, plain);
    RawVector<F> scratch(neighbours * plain.size(lanes));
    std::size_t filled = lows;  // the low index that `twiddles` begin with
#pragma omp for schedule(static)
    for (std::size_t group = 0; group < lows / neighbours * blocks; ++group) {
      const std::size_t low = group / blocks * neighbours;
      const std::size_t block = group % blocks;
      F* const first = data.data() + ((block << (pass.first + pass.count)) + low) * stride;
      for (std::size_t i = 0; i < neighbours && filled != low; ++i) {
        twiddles[i].set_coset(plain, {coset.number + ((low + i) << coset.log_count), coset.log_count + pass.first});
      }
      filled = low;
      const SlotGrid grid{lows * stride, stride, rows, neighbours, lanes};
      take_rows(first, grid, plain, scratch.data());
      for (std::size_t i = 0; i < neighbours; ++i) {
        transform_rows(scratch.data() + i * plain.size(lanes), lanes, twiddles[i]);
      }
      put_rows(scratch.data(), grid, plain, first, data.size_bytes() >= streamed_bytes);
    }
  }
}

}  // namespace

F* CoefficientBlock::slot(std::size_t neighbour, std::size_t slot) const {
  return to + neighbour * size + pass.place(slot, lanes);
}

void ntt(std::span<F> data, unsigned log_length, std::size_t lanes, unsigned log_padding, std::size_t stride,
         Coset coset, const PutCoefficients& put) {
  stride = std::max(stride, lanes);
  assert(data.size() == stride << log_length && log_padding <= log_length);
  if (lanes == 0) {
    return;
  }
  for (const Pass pass : plan_passes(log_length, stride, log_padding)) {
    if (pass.first == 0) {
      first_pass(data, log_length, lanes, log_padding, stride, pass, coset, put);
    } else {
      later_pass(data, log_length, lanes, stride, pass, coset);
    }
  }
}

}  // namespace tessera
