#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>

#include <tessera/cluster/communicator.hpp>
#include <tessera/polynomial/chunked_tensor.hpp>
#include <tessera/sumcheck/sumcheck.hpp>

namespace tessera {

/// A proven sum-check: point and value as the verifier's, and every factor's value at the point.
struct ProvenSumcheck {
  Point point;
  std::vector<E> factors;
};

/// Highest degree of a relation here.
inline constexpr std::size_t max_degree = 4;
/// Most factors of a relation here.
inline constexpr std::size_t max_factors = 8;

using RoundSums = std::array<E, max_degree + 1>;

/// Adds weight * g(factors at X = 0 .. degree) of one pair of entries: factor k runs linearly from low[k] to high[k].
template <Relation R>
void add_round_terms(const R& relation, std::span<const E> low, std::span<const E> high, E weight, RoundSums& sums) {
  std::array<E, max_factors> value;
  std::array<E, max_factors> step;
  const std::size_t n = low.size();
  for (std::size_t k = 0; k < n; ++k) {
    value[k] = low[k];
    step[k] = high[k] - low[k];
  }
  for (std::size_t x = 0; x <= relation.degree(); ++x) {
    sums[x] += weight * relation(std::span<const E>(value.data(), n));
    for (std::size_t k = 0; k < n; ++k) {
      value[k] += step[k];
    }
  }
}

/// Coefficients h_1 .. h_degree of the polynomial with these values at 0 .. degree.
std::vector<E> higher_coefficients(std::span<const E> values);

/// One factor of a sharded sum-check over the present chunks of a shape.
struct ChunkedFactor {
  /// Values of a chunk owned by this rank (2^inner_bits, inner indices row-major).
  std::function<void(std::size_t chunk, std::span<E> values)> fill;
  /// The factor on the whole outer cube (2^outer_bits) once the inner variables are bound; empty: the owners' values
  /// are gathered and absent chunks are zero.
  std::function<std::vector<E>(std::span<const E> inner_point)> outer;
};

/// Dense and replicated: claim = sum_x g(x), or sum_x beta(at, x)*g(x) if `at` is not empty, over tables of 2^n values.
/// Every rank computes the same. Tables are consumed.
template <Relation R>
ProvenSumcheck prove_dense_sumcheck(ProverTranscript& transcript, const R& relation, std::vector<std::vector<E>> tables,
                                    std::span<const E> at = {}) {
  assert(tables.size() == relation.factors() && relation.degree() <= max_degree && tables.size() <= max_factors);
  const unsigned variables = ceil_log2(tables.front().size());
  ProvenSumcheck result{Point(variables), {}};
  for (unsigned i = variables; i-- > 0;) {
    const std::size_t half = std::size_t{1} << i;
    const std::vector<E> weights = at.empty() ? std::vector<E>{} : eq_table(at.first(i));
    RoundSums sums{};
    std::array<E, max_factors> low;
    std::array<E, max_factors> high;
    const std::size_t n = tables.size();
    for (std::size_t x = 0; x < half; ++x) {
      for (std::size_t k = 0; k < n; ++k) {
        low[k] = tables[k][2 * x];
        high[k] = tables[k][2 * x + 1];
      }
      add_round_terms(relation, std::span<const E>(low.data(), n), std::span<const E>(high.data(), n),
                      weights.empty() ? E::one() : weights[x], sums);
    }
    transcript.send("round", higher_coefficients(std::span<const E>(sums.data(), relation.degree() + 1)));
    const E challenge = transcript.challenge("bind");
    result.point[i] = challenge;
    for (std::vector<E>& table : tables) {
      for (std::size_t x = 0; x < half; ++x) {
        table[x] = table[2 * x] + challenge * (table[2 * x + 1] - table[2 * x]);
      }
      table.resize(half);
    }
  }
  for (const std::vector<E>& table : tables) {
    result.factors.push_back(table.front());
  }
  return result;
}

/// Sharded: the sum over the present chunks of `shape` (absent ones contribute nothing) of g, or of beta(at, .)*g with
/// `at` in flat order. Inner variables are bound on the owners, one all-reduce a round; then the chunks' values are
/// gathered and the outer variables are bound identically everywhere. Collective.
template <Relation R>
ProvenSumcheck prove_chunked_sumcheck(ProverTranscript& transcript, const R& relation, const Shape& shape,
                                      const Ownership& ownership, std::span<const ChunkedFactor> factors,
                                      std::span<const E> at, Communicator& comm) {
  assert(factors.size() == relation.factors() && relation.degree() <= max_degree && factors.size() <= max_factors);
  const std::size_t n = factors.size();
  const unsigned inner = shape.inner_bits();
  const unsigned outer = shape.outer_bits();
  std::vector<std::size_t> mine;
  for (std::size_t chunk = 0; chunk < shape.chunk_count(); ++chunk) {
    if (ownership.owner(shape, chunk, comm.size()) == comm.rank()) {
      mine.push_back(chunk);
    }
  }
  // blocks[i]: factor after factor, 2^inner values each
  std::vector<std::vector<E>> blocks(mine.size());
  const std::size_t stride = shape.chunk_size();
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < mine.size(); ++i) {
    blocks[i].resize(n * stride);
    for (std::size_t k = 0; k < n; ++k) {
      factors[k].fill(mine[i], std::span(blocks[i]).subspan(k * stride, stride));
    }
  }
  std::vector<E> chunk_weight(mine.size(), E::one());
  if (!at.empty()) {
    for (std::size_t i = 0; i < mine.size(); ++i) {
      chunk_weight[i] = eq_index(at.first(outer), shape.outer_index(mine[i]));
    }
  }
  ProvenSumcheck result{Point(shape.bits()), {}};
  for (unsigned j = inner; j-- > 0;) {
    const std::size_t half = std::size_t{1} << j;
    const std::vector<E> weights = at.empty() ? std::vector<E>{} : eq_table(at.subspan(outer, j));
    RoundSums sums{};
#pragma omp parallel
    {
      RoundSums partial{};
#pragma omp for schedule(dynamic) nowait
      for (std::size_t i = 0; i < mine.size(); ++i) {
        RoundSums block_sums{};
        std::array<E, max_factors> low;
        std::array<E, max_factors> high;
        for (std::size_t x = 0; x < half; ++x) {
          for (std::size_t k = 0; k < n; ++k) {
            low[k] = blocks[i][k * stride + 2 * x];
            high[k] = blocks[i][k * stride + 2 * x + 1];
          }
          add_round_terms(relation, std::span<const E>(low.data(), n), std::span<const E>(high.data(), n),
                          weights.empty() ? E::one() : weights[x], block_sums);
        }
        for (std::size_t x = 0; x <= relation.degree(); ++x) {
          partial[x] += chunk_weight[i] * block_sums[x];
        }
      }
#pragma omp critical
      for (std::size_t x = 0; x <= relation.degree(); ++x) {
        sums[x] += partial[x];
      }
    }
    comm.all_reduce_sum(std::span(sums.data(), relation.degree() + 1));
    transcript.send("round", higher_coefficients(std::span<const E>(sums.data(), relation.degree() + 1)));
    const E challenge = transcript.challenge("bind");
    result.point[outer + j] = challenge;
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < mine.size(); ++i) {
      for (std::size_t k = 0; k < n; ++k) {
        E* table = blocks[i].data() + k * stride;
        for (std::size_t x = 0; x < half; ++x) {
          table[x] = table[2 * x] + challenge * (table[2 * x + 1] - table[2 * x]);
        }
      }
    }
  }
  const std::span<const E> inner_point = std::span<const E>(result.point).subspan(outer);
  std::vector<std::vector<E>> tables(n);
  for (std::size_t k = 0; k < n; ++k) {
    if (factors[k].outer) {
      tables[k] = factors[k].outer(inner_point);
    } else {
      tables[k].resize(std::size_t{1} << outer);
      for (std::size_t i = 0; i < mine.size(); ++i) {
        tables[k][shape.outer_index(mine[i])] = blocks[i][k * stride];
      }
      comm.all_reduce_sum(tables[k]);
    }
  }
  ProvenSumcheck rest =
      prove_dense_sumcheck(transcript, relation, std::move(tables), at.empty() ? at : at.first(outer));
  std::ranges::copy(rest.point, result.point.begin());
  result.factors = std::move(rest.factors);
  return result;
}

}  // namespace tessera
