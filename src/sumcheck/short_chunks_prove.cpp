#include "sumcheck/short_chunks.hpp"

#include <algorithm>
#include <array>
#include <cassert>

#include "base/shares.hpp"
#include "field/scale_kernels.hpp"

namespace tessera {
namespace {

/// One pair of each of so many chunks fills vectors, whatever their length.
constexpr std::size_t chunks_of_vector = 8;
/// Values of a factor that one thread binds at a time.
constexpr std::size_t part_values = 2048;

std::size_t padded(std::size_t chunks) { return (chunks + chunks_of_vector - 1) / chunks_of_vector * chunks_of_vector; }

}  // namespace

ShortChunks::ShortChunks(const RoundKernel& kernel, std::span<E* const> tables, std::span<const E> chunk_weights,
                         unsigned variables)
    : kernel_(kernel),
      chunk_weights_(chunk_weights),
      padded_(padded(tables.size() / kernel.factors)),
      variables_(variables),
      tables_((padded_ * kernel.factors) << variables) {
  assert(variables >= 1 && (!chunk_weights.empty() || kernel.homogeneous));
  const std::size_t size = std::size_t{1} << variables;
  const std::size_t chunks = tables.size() / kernel.factors;
#pragma omp parallel for schedule(static) if (chunks * size > 2 * part_values)
  for (std::size_t chunk = 0; chunk < padded_; ++chunk) {
    for (std::size_t k = 0; k < kernel.factors; ++k) {
      E* const to = tables_.data() + ((k * padded_ + chunk) << variables);
      if (chunk < chunks) {
        std::copy_n(tables[chunk * kernel.factors + k], size, to);
      } else {
        std::fill_n(to, size, E::zero());
      }
    }
  }
}

RoundWeights ShortChunks::weights(std::span<const E> at, std::size_t first, std::size_t chunks) const {
  if (chunk_weights_.empty()) {
    return {};
  }
  std::vector<E> table(chunks << at.size());
  const std::size_t present = std::min(chunk_weights_.size(), first + chunks) - std::min(chunk_weights_.size(), first);
  if (present > 0) {
    add_outer_product(chunk_weights_.subspan(first, present), eq_table(at), table.data());
  }
  return RoundWeights::of(std::move(table));
}

template <class Body>
RoundSums ShortChunks::sum_parts(const Body& body) const {
  const std::size_t part = std::max(part_values >> variables_, chunks_of_vector);
  RoundSums total{};
#pragma omp parallel if (padded_ > 2 * part)
  {
    RoundSums mine{};
#pragma omp for schedule(dynamic, share_of(padded_ / part)) nowait
    for (std::size_t first = 0; first < padded_; first += part) {
      mine += body(first, std::min(part, padded_ - first));
    }
#pragma omp critical(tessera_short_chunk_sums)
    total += mine;
  }
  return total;
}

RoundSums ShortChunks::bind(E challenge, bool with_one, std::span<const E> at) {
  assert(variables_ >= 2 && (chunk_weights_.empty() || at.size() == variables_ - 2));
  RawVector<E> bound(tables_.size() / 2);
  const RoundSums sums = sum_parts([&](std::size_t first, std::size_t chunks) {
    std::array<E*, max_factors> from{}, to{};
    for (std::size_t k = 0; k < kernel_.factors; ++k) {
      const std::size_t chunk = k * padded_ + first;
      from[k] = tables_.data() + (chunk << variables_);
      to[k] = bound.data() + (chunk << (variables_ - 1));
    }
    const RoundWeights round_weights = weights(at, first, chunks);
    return kernel_.run({from.data(), chunks << (variables_ - 2), round_weights, 0, with_one, to.data(), challenge});
  });
  tables_ = std::move(bound);
  --variables_;
  return sums;
}

void ShortChunks::end(E challenge) {
  assert(variables_ == 1);
  bind_lowest(tables_.data(), tables_.data(), tables_.size() / 2, challenge);
  --variables_;
}

}  // namespace tessera
