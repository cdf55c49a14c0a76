#pragma once

#include <array>
#include <functional>

#include "sumcheck/relation.hpp"
#include "sumcheck/round_weights.hpp"

namespace tessera {

/// Highest degree of a relation here.
inline constexpr std::size_t max_degree = 4;
/// Most factors of a relation here.
inline constexpr std::size_t max_factors = 8;

/// h(0) .. h(degree) of a round polynomial h, with two savings: h(1) is left out where it follows from the claim, and
/// the last entry is the leading coefficient if the summand is homogeneous: the relation of the factors' slopes.
using RoundSums = std::array<E, max_degree + 1>;

inline RoundSums& operator+=(RoundSums& sums, const RoundSums& other) {
  for (std::size_t x = 0; x < sums.size(); ++x) {
    sums[x] += other[x];
  }
  return sums;
}

/// A run of pairs of one round. Factor k runs linearly from tables[k][2x] to tables[k][2x+1] in pair x.
struct RoundRun {
  E* const* tables = nullptr;  ///< 2*pairs values each; 4*pairs if a variable is to be bound first
  std::size_t pairs = 0;
  const RoundWeights& weights;
  std::size_t first_weight = 0;  ///< of pair 0; a multiple of weights.block()
  bool with_one = true;          ///< whether h(1) is wanted
  /// Tables of 2*pairs values that take the bound values; they may begin where `tables` do. Null: nothing to bind.
  E* const* bound = nullptr;
  E challenge = {};
};

/// A relation as the prover's engine uses it. Vector kernels come from round_kernels-inl.hpp.
struct RoundKernel {
  std::size_t degree = 0;
  std::size_t factors = 0;
  bool homogeneous = false;
  /// Binds if asked to, then gives sum over x of weight * relation.
  std::function<RoundSums(const RoundRun&)> run;
};

/// bound[x] = the line through table[2x] and table[2x+1] at the challenge; `bound` may be the table.
void bind_lowest(const E* table, E* bound, std::size_t pairs, E challenge);

/// Adds one pair's part of a round's sums.
template <Relation R>
void add_round_terms(const R& relation, std::span<const E> low, std::span<const E> high, E weight, bool with_one,
                     RoundSums& sums) {
  std::array<E, max_factors> value;
  std::array<E, max_factors> step;
  const std::size_t n = low.size();
  for (std::size_t k = 0; k < n; ++k) {
    value[k] = low[k];
    step[k] = high[k] - low[k];
  }
  for (std::size_t x = 0; x <= relation.degree(); ++x) {
    if (x != 1 || with_one) {
      const bool slopes = is_homogeneous<R>() && x == relation.degree();
      sums[x] += weight * relation(std::span<const E>(slopes ? step.data() : value.data(), n));
    }
    for (std::size_t k = 0; k < n; ++k) {
      value[k] += step[k];
    }
  }
}

/// A run, pair by pair.
template <Relation R>
RoundSums scalar_run(const R& relation, const RoundRun& run) {
  const std::size_t n = relation.factors();
  for (std::size_t k = 0; run.bound != nullptr && k < n; ++k) {
    bind_lowest(run.tables[k], run.bound[k], 2 * run.pairs, run.challenge);
  }
  E* const* tables = run.bound != nullptr ? run.bound : run.tables;
  RoundSums sums{};
  std::array<E, max_factors> low;
  std::array<E, max_factors> high;
  for (std::size_t x = 0; x < run.pairs; ++x) {
    for (std::size_t k = 0; k < n; ++k) {
      low[k] = tables[k][2 * x];
      high[k] = tables[k][2 * x + 1];
    }
    add_round_terms(relation, std::span<const E>(low.data(), n), std::span<const E>(high.data(), n),
                    run.weights.empty() ? E::one() : run.weights[run.first_weight + x], run.with_one, sums);
  }
  return sums;
}

/// The kernel of a relation without vectors.
template <Relation R>
RoundKernel scalar_kernel(const R& relation) {
  return {relation.degree(), relation.factors(), is_homogeneous<R>(),
          [relation](const RoundRun& run) { return scalar_run(relation, run); }};
}

/// `vectors`, of a relation's vector kernel: false if the machine has none or the run does not fill them.
template <Relation R>
RoundKernel vector_kernel(const R& relation, bool (*vectors)(const R&, const RoundRun&, RoundSums&)) {
  return {relation.degree(), relation.factors(), is_homogeneous<R>(), [relation, vectors](const RoundRun& run) {
            RoundSums sums{};
            return vectors(relation, run, sums) ? sums : scalar_run(relation, run);
          }};
}

}  // namespace tessera
