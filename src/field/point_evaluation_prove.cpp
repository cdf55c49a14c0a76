#include <omp.h>

#include <algorithm>
#include <cassert>
#include "field/point_evaluation.hpp"

#include "field/ntt_kernels.hpp"
#include "field/scale_kernels.hpp"
#include "base/shares.hpp"

namespace tessera {
namespace {

/// A part stays in this much cache.
constexpr std::size_t part_bytes = 256 * 1024;
constexpr std::size_t least_wave_bytes = std::size_t{1} << 20;  // of parts at once
constexpr std::size_t most_wave_bytes = std::size_t{8} << 20;

/// Longer transforms mean more layers, shorter ones more parts to add at every position: 2^9 balances some 200
/// positions.
unsigned choose_log_rows(unsigned log_length, std::size_t lanes, unsigned log_padding) {
  unsigned log_rows = std::min(log_length, 9U);
  while (log_rows > 0 && (lanes * sizeof(F)) << log_rows > part_bytes) {
    --log_rows;
  }
  return std::max(log_rows, log_padding);
}

}  // namespace

PointEvaluation::PointEvaluation(unsigned log_length, std::size_t lanes, unsigned log_padding,
                                 std::span<const std::size_t> positions)
    : lanes_(lanes),
      log_rows_(choose_log_rows(log_length, lanes, log_padding)),
      log_parts_(log_length - log_rows_),
      twiddles_(log_rows_, log_padding),
      values_(positions.size() * lanes) {
  const F root = F::root_of_unity(log_length);
  for (const std::size_t position : positions) {
    rows_.push_back(position & ((std::size_t{1} << log_rows_) - 1));
    steps_.push_back(root.power(position));
  }
}

std::size_t PointEvaluation::parts_at_once() const {
  // of few parts memory is touched for the first time that none of it repays
  const std::size_t bytes = std::clamp(parts() * part_size() * sizeof(F) / 32, least_wave_bytes, most_wave_bytes);
  return std::clamp(bytes / (part_size() * sizeof(F)), std::size_t{1}, parts());
}

template <class RowsOf>
void PointEvaluation::add_parts(Parts which, std::size_t count, const RowsOf& rows_of) {
  std::vector<F> strides;  // omega^(position * stride)
  for (const F step : steps_) {
    strides.push_back(step.power(which.stride));
  }
#pragma omp parallel
  {
    std::vector<F> sums(values_.size());
    std::vector<F> powers(rows_.size());  // omega^(position * part)
    std::size_t known = 0;                // the part that the next ones would belong to
#pragma omp for schedule(dynamic, share_of(count))
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t part = which.first + i * which.stride;
      F* const rows = rows_of(i, part);
      transform_rows(rows, lanes_, twiddles_);
      for (std::size_t j = 0; j < rows_.size(); ++j) {
        powers[j] = part == known && part > 0 ? powers[j] * strides[j] : steps_[j].power(part);
        add_scaled(powers[j], rows + twiddles_.place(rows_[j], lanes_), lanes_, sums.data() + j * lanes_);
      }
      known = part + which.stride;
    }
#pragma omp critical
    add_scaled(F::one(), sums.data(), sums.size(), values_.data());
  }
}

void PointEvaluation::add(Parts which, std::span<F> parts) {
  assert(parts.size() % part_size() == 0);
  add_parts(which, parts.size() / part_size(),
            [&](std::size_t i, std::size_t /*part*/) { return parts.data() + i * part_size(); });
}

void PointEvaluation::add(Parts which, std::size_t count, const std::function<void(std::size_t, F*)>& fill) {
  std::vector<RawVector<F>> memory(static_cast<std::size_t>(omp_get_max_threads()));
  add_parts(which, count, [&](std::size_t /*i*/, std::size_t part) {
    RawVector<F>& mine = memory[static_cast<std::size_t>(omp_get_thread_num())];
    if (mine.empty()) {
      mine = RawVector<F>(part_size());
    }
    fill(part, mine.data());
    return mine.data();
  });
}

}  // namespace tessera
