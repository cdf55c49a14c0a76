#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include "field/ntt.hpp"
#include "memory/storage.hpp"
#include <vector>

#include "field/ntt_kernels.hpp"
#include "base/shares.hpp"

namespace tessera {
namespace {

/// A pass's rows stay in this much cache: half of the second level's, but at least 512 KiB, with which a level of no
/// more is faster than with half.
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

/// What becomes of a group of the first pass: 2^pass.count neighbouring slots from (place << pass.count) on.
using GroupDone = std::function<void(const F* group, std::size_t place, const PassTwiddles& pass)>;

/// Layers [0, pass.count): neighbouring slots. They hold coefficients that are far apart; as many neighbours of these
/// as fit in the cache are put in at once, and go to `done` when they are transformed.
struct FirstPass {
  unsigned log_length;
  std::size_t lanes;
  unsigned log_padding;
  std::size_t stride;
  Pass pass;
  Coset coset;

  void operator()(std::span<F> data, const PutCoefficients& put, const GroupDone& done) const;
};
void FirstPass::operator()(std::span<F> data, const PutCoefficients& put, const GroupDone& done) const {
  const PassTwiddles plain(pass.count, log_padding);
  PassTwiddles twiddles = plain;
  twiddles.set_coset(plain, coset);
  const unsigned log_distance = log_length - pass.count;
  const std::size_t group = stride << pass.count;
  if (!put) {
#pragma omp parallel for schedule(dynamic, share_of(std::size_t{1} << log_distance))
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
#pragma omp for schedule(dynamic, share_of((std::size_t{1} << log_distance) / neighbours))
    for (std::size_t first = 0; first < std::size_t{1} << log_distance; first += neighbours) {
      put({first, neighbours, log_distance, scratch.data(), twiddles.size(lanes), lanes, twiddles});
      for (std::size_t i = 0; i < neighbours; ++i) {
        F* const own = scratch.data() + i * twiddles.size(lanes);
        transform_rows(own, lanes, twiddles);
        done(own, bit_reverse(first + i, log_distance), twiddles);
      }
    }
  }
}

/// How many neighbours a later pass takes at once.
std::size_t later_neighbours(std::size_t lanes, Pass pass) {
  const std::size_t rows = std::size_t{1} << pass.count;
  return std::min(std::bit_floor(std::clamp<std::size_t>(group_bytes() / (rows * lanes * sizeof(F)), 1, 32)),
                  std::size_t{1} << pass.first);
}

/// Layers that pair slots further apart. Slots with neighbouring low indices lie side by side: as many of them as fit
/// in the cache are moved there and back together, which touches a page less often. take(low, block, array): fills an
/// array with the rows of `neighbours` slots from `low` on, put(..): they are transformed.
template <class Take, class Put>
void later_pass(unsigned log_length, std::size_t lanes, Pass pass, Coset coset, const Take& take, const Put& put) {
  const PassTwiddles plain(pass.count);
  const std::size_t lows = std::size_t{1} << pass.first;
  const std::size_t blocks = std::size_t{1} << (log_length - pass.count - pass.first);
  const std::size_t neighbours = later_neighbours(lanes, pass);
#pragma omp parallel
  {
    std::vector<PassTwiddles> twiddles(neighbours, plain);
    RawVector<F> scratch(neighbours * plain.size(lanes));
    std::size_t filled = lows;  // the low index that `twiddles` begin with
#pragma omp for schedule(dynamic, share_of(lows / neighbours * blocks))
    for (std::size_t group = 0; group < lows / neighbours * blocks; ++group) {
      const std::size_t low = group / blocks * neighbours;
      for (std::size_t i = 0; i < neighbours && filled != low; ++i) {
        twiddles[i].set_coset(plain, {coset.number + ((low + i) << coset.log_count), coset.log_count + pass.first});
      }
      filled = low;
      take(low, group % blocks, plain, scratch.data());
      for (std::size_t i = 0; i < neighbours; ++i) {
        transform_rows(scratch.data() + i * plain.size(lanes), lanes, twiddles[i]);
      }
      put(low, group % blocks, plain, scratch.data());
    }
  }
}

/// A pass after the first: slots are read and written in their places.
void later_pass(std::span<F> data, unsigned log_length, std::size_t lanes, std::size_t stride, Pass pass, Coset coset) {
  const std::size_t lows = std::size_t{1} << pass.first;
  const SlotGrid grid{lows * stride, stride, std::size_t{1} << pass.count, later_neighbours(lanes, pass), lanes};
  const auto first = [&](std::size_t low, std::size_t block) {
    return data.data() + ((block << (pass.first + pass.count)) + low) * stride;
  };
  later_pass(
      log_length, lanes, pass, coset,
      [&](std::size_t low, std::size_t block, const PassTwiddles& plain, F* to) {
        take_rows(first(low, block), grid, plain, to);
      },
      [&](std::size_t low, std::size_t block, const PassTwiddles& plain, const F* from) {
        put_rows(from, grid, plain, first(low, block), data.size_bytes() >= streamed_bytes);
      });
}

}  // namespace

F* CoefficientBlock::slot(std::size_t neighbour, std::size_t slot) const {
  return to + neighbour * size + pass.place(slot, lanes);
}

const F* ValueBlock::slot(std::size_t neighbour, std::size_t row) const {
  return from + neighbour * size + pass.place(row, lanes);
}
std::size_t ValueBlock::together() const { return std::size_t{1} << pass.log_group(); }

void ntt(std::span<F> data, unsigned log_length, std::size_t lanes, unsigned log_padding, std::size_t stride,
         Coset coset, const PutCoefficients& put) {
  stride = std::max(stride, lanes);
  assert(data.size() == stride << log_length && log_padding <= log_length);
  if (lanes == 0) {
    return;
  }
  for (const Pass pass : plan_passes(log_length, stride, log_padding)) {
    if (pass.first == 0) {
      const SlotGrid grid{stride, 0, std::size_t{1} << pass.count, 1, lanes};
      const FirstPass transform{log_length, lanes, log_padding, stride, pass, coset};
      transform(data, put, [&](const F* group, std::size_t place, const PassTwiddles& twiddles) {
        put_rows(group, grid, twiddles, data.data() + (place << pass.count) * stride,
                 data.size_bytes() >= streamed_bytes);
      });
    } else {
      later_pass(data, log_length, lanes, stride, pass, coset);
    }
  }
}

void ntt(std::span<F> scratch, unsigned log_length, std::size_t lanes, unsigned log_padding, Coset coset,
         const PutCoefficients& put, const TakeValues& take) {
  assert(scratch.size() == lanes << log_length && log_padding <= log_length);
  const std::vector<Pass> passes = plan_passes(log_length, lanes, log_padding);
  const auto give = [&](Pass pass, std::size_t low, std::size_t neighbours, const PassTwiddles& plain, const F* from) {
    take({low, neighbours, pass.first, std::size_t{1} << pass.count, from, plain.size(lanes), lanes, plain});
  };
  if (passes.size() == 1) {
    const FirstPass all{log_length, lanes, log_padding, lanes, passes[0], coset};
    all(scratch, put,
        [&](const F* group, std::size_t, const PassTwiddles& twiddles) { give(passes[0], 0, 1, twiddles, group); });
    return;
  }
  // Two passes. What the second one takes at once lies together: it reads from one end to the other, and what is
  // written in pieces need not be waited for.
  const Pass first{0, std::max(passes[0].count, (log_length + 1) / 2)};
  const Pass second{first.count, log_length - first.count};
  const std::size_t run = later_neighbours(lanes, second);
  const std::size_t rows = std::size_t{1} << second.count;
  const bool stream = scratch.size_bytes() >= streamed_bytes;
  const FirstPass transform{log_length, lanes, log_padding, lanes, first, coset};
  transform(scratch, put, [&](const F* group, std::size_t place, const PassTwiddles& twiddles) {
    put_runs(group, {rows * run * lanes, lanes, std::size_t{1} << first.count, run, lanes}, twiddles,
             scratch.data() + place * run * lanes, stream);
  });
  later_pass(
      log_length, lanes, second, coset,
      [&](std::size_t low, std::size_t, const PassTwiddles& plain, F* to) {
        take_rows(scratch.data() + low * rows * lanes, {run * lanes, lanes, rows, run, lanes}, plain, to);
      },
      [&](std::size_t low, std::size_t, const PassTwiddles& plain, const F* from) {
        give(second, low, run, plain, from);
      });
}

}  // namespace tessera
