#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include "field/ntt.hpp"
#include "memory/storage.hpp"
#include <vector>

#include "field/ntt_kernels.hpp"
#include "field/scale_kernels.hpp"

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

/// The twiddles of a later pass for slots with low index `low`: those of a transform of its own times
/// w^(coset.number + 2^coset.log_count * low), w of order 2^(pass.first + t + 1 + coset.log_count).
void shift_twiddles(const std::vector<F>& own, Pass pass, std::size_t low, Coset coset, std::span<F> twiddles) {
  F shift = F::root_of_unity(pass.first + pass.count + coset.log_count).power(coset.number + (low << coset.log_count));
  for (unsigned t = pass.count; t-- > 0; shift *= shift) {
    const std::size_t first = (std::size_t{1} << t) - 1;
    scale(shift, own.data() + first, std::size_t{1} << t, twiddles.data() + first);
  }
}

/// Layers [0, pass.count): neighbouring slots. They hold coefficients that are far apart; as many neighbours of these
/// as fit in the cache are put in at once.
void first_pass(std::span<F> data, unsigned log_length, std::size_t lanes, unsigned log_padding, std::size_t stride,
                Pass pass, Coset coset, const PutCoefficients& put) {
  const FirstTwiddles twiddles(pass.count, coset);
  const unsigned log_distance = log_length - pass.count;
  const std::size_t group = stride << pass.count;
  const std::size_t fitting = std::bit_floor(std::clamp<std::size_t>(group_bytes() / (group * sizeof(F)), 1, 32));
  const std::size_t neighbours = std::min(fitting, std::size_t{1} << log_distance);
#pragma omp parallel for schedule(static)
  for (std::size_t first = 0; first < std::size_t{1} << log_distance; first += neighbours) {
    if (put) {
      put({first, neighbours, log_distance});
    }
    for (std::size_t i = 0; i < neighbours; ++i) {
      const std::size_t place = put ? bit_reverse(first + i, log_distance) : first + i;
      transform_padded(data.data() + place * group, stride, log_padding, pass.count, lanes, twiddles);
    }
  }
}

/// Layers that pair slots further apart. Slots with neighbouring low indices lie side by side: as many of them as fit
/// in the cache are moved there and back together, which touches a page less often.
void later_pass(std::span<F> data, unsigned log_length, std::size_t lanes, std::size_t stride, Pass pass, Coset coset) {
  const std::vector<F> own = own_twiddles(pass.count);
  const std::size_t rows = std::size_t{1} << pass.count;
  const std::size_t lows = std::size_t{1} << pass.first;
  const std::size_t blocks = std::size_t{1} << (log_length - pass.count - pass.first);
  const std::size_t fitting =
      std::bit_floor(std::clamp<std::size_t>(group_bytes() / (rows * lanes * sizeof(F)), 1, 32));
  const std::size_t neighbours = std::min(fitting, lows);
#pragma omp parallel
  {
    RawVector<F> twiddles(neighbours * rows);
    RawVector<F> scratch(neighbours * rows * lanes);
    std::size_t filled = lows;  // the low index that `twiddles` begin with
#pragma omp for schedule(static)
    for (std::size_t group = 0; group < lows / neighbours * blocks; ++group) {
      const std::size_t low = group / blocks * neighbours;
      const std::size_t block = group % blocks;
      F* const first = data.data() + ((block << (pass.first + pass.count)) + low) * stride;
      for (std::size_t i = 0; i < neighbours && filled != low; ++i) {
        shift_twiddles(own, pass, low + i, coset, std::span(twiddles).subspan(i * rows, rows));
      }
      filled = low;
      const SlotGrid grid{lows * stride, stride, rows, neighbours, lanes};
      take_rows(first, grid, scratch.data());
      for (std::size_t i = 0; i < neighbours; ++i) {
        transform_rows(scratch.data() + i * rows * lanes, pass.count, lanes, twiddles.data() + i * rows);
      }
      put_rows(scratch.data(), grid, first, data.size_bytes() >= streamed_bytes);
    }
  }
}

}  // namespace

std::vector<F> own_twiddles(unsigned log_rows) {
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
