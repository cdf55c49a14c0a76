#include <omp.h>

#include <algorithm>
#include <cassert>

#include "sumcheck/dense.hpp"
#include "base/shares.hpp"

namespace tessera {
namespace {

/// Pairs per unit of parallel work; fewer are one thread's, because waking another one takes some 50 microseconds.
constexpr std::size_t block_pairs = 4096;

/// body(first, count) on blocks of `pairs` pairs; the sum of its sums.
template <class Body>
RoundSums sum_blocks(std::size_t pairs, const Body& body) {
  if (pairs <= block_pairs) {
    return body(std::size_t{0}, pairs);
  }
  RoundSums total{};
#pragma omp parallel for schedule(dynamic, share_of(pairs / block_pairs))
  for (std::size_t first = 0; first < pairs; first += block_pairs) {
    const RoundSums sums = body(first, std::min(block_pairs, pairs - first));
#pragma omp critical(tessera_dense_sums)
    total += sums;
  }
  return total;
}

std::array<E*, max_factors> places(const std::vector<DenseTable>& tables, std::size_t first) {
  std::array<E*, max_factors> result{};
  for (std::size_t k = 0; k < tables.size(); ++k) {
    result[k] = tables[k].values + first;
  }
  return result;
}

}  // namespace

DenseSummand::DenseSummand(RoundKernel kernel, std::vector<DenseTable> tables, std::span<const E> at)
    : kernel_(std::move(kernel)), tables_(std::move(tables)), at_(at) {
  assert(tables_.size() == kernel_.factors && kernel_.degree <= max_degree && kernel_.factors <= max_factors);
}

RoundWeights DenseSummand::weights(std::size_t pairs) const {
  return at_.empty() ? RoundWeights{} : RoundWeights(at_.first(ceil_log2(pairs)));
}

RoundSums DenseSummand::first(bool with_one) {
  const std::size_t pairs = tables_.front().size / 2;
  const RoundWeights round_weights = weights(pairs);
  return sum_blocks(pairs, [&](std::size_t first, std::size_t count) {
    const auto tables = places(tables_, 2 * first);
    return kernel_.run({tables.data(), count, round_weights, first, with_one});
  });
}

std::vector<DenseTable> DenseSummand::halves(std::size_t pairs) const {
  // one thread, block after block, overwrites only what it has read; several would overwrite each other's
  const bool in_place = pairs <= block_pairs || omp_get_max_threads() == 1;
  std::vector<DenseTable> result;
  for (const DenseTable& table : tables_) {
    const std::size_t size = table.size / 2;
    if (in_place && table.owner.use_count() == 1) {
      result.push_back({table.owner, table.values, size});
    } else {
      result.push_back(DenseTable::of(RawVector<E>(size)));
    }
  }
  return result;
}

RoundSums DenseSummand::bind(E challenge, bool with_one) {
  const std::size_t pairs = tables_.front().size / 4;
  const RoundWeights round_weights = weights(pairs);
  std::vector<DenseTable> bound = halves(pairs);
  const RoundSums sums = sum_blocks(pairs, [&](std::size_t first, std::size_t count) {
    const auto from = places(tables_, 4 * first);
    const auto to = places(bound, 2 * first);
    return kernel_.run({from.data(), count, round_weights, first, with_one, to.data(), challenge});
  });
  tables_ = std::move(bound);
  return sums;
}

void DenseSummand::end(E challenge) {
  const std::size_t pairs = tables_.front().size / 2;
  std::vector<DenseTable> bound = halves(pairs);
  sum_blocks(pairs, [&](std::size_t first, std::size_t count) {
    for (std::size_t k = 0; k < tables_.size(); ++k) {
      bind_lowest(tables_[k].values + 2 * first, bound[k].values + first, count, challenge);
    }
    return RoundSums{};
  });
  tables_ = std::move(bound);
}

std::vector<E> DenseSummand::values() const {
  std::vector<E> values;
  for (const DenseTable& table : tables_) {
    values.push_back(*table.values);
  }
  return values;
}

ProvenSumcheck prove_dense_sumcheck(ProverTranscript& transcript, const RoundKernel& kernel,
                                    std::vector<std::vector<E>> tables, std::span<const E> at) {
  const unsigned variables = ceil_log2(tables.front().size());
  std::vector<DenseTable> shared;
  for (std::vector<E>& table : tables) {
    shared.push_back(DenseTable::of(std::move(table)));
  }
  DenseSummand summand(kernel, std::move(shared), at);
  Point point = prove_rounds(transcript, summand, variables, at);
  return {std::move(point), summand.values()};
}

}  // namespace tessera
