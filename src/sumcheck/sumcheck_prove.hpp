#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <optional>

#include "cluster/communicator.hpp"
#include "memory/storage.hpp"
#include "tensor/chunked_tensor.hpp"
#include "sumcheck/round_weights.hpp"
#include "sumcheck/sumcheck.hpp"
#include "sumcheck/vector_form.hpp"

namespace tessera {

/// A proven sum-check: point and value as the verifier's, and every factor's value at the point.
struct ProvenSumcheck {
  Point point;
  std::vector<E> factors;
};

/// Highest degree of a relation here.
inline constexpr std::size_t max_degree = 4;
/// Fewer pairs are summed by one thread: waking another one takes some 50 microseconds.
inline constexpr std::size_t least_parallel_pairs = 4096;
/// Most factors of a relation here.
inline constexpr std::size_t max_factors = 8;

/// h(0) .. h(degree) of a round polynomial h, with two savings: h(1) is left out where it follows from the claim, and
/// the last entry is the leading coefficient if the relation is homogeneous (a sum of products of `degree` factors; it
/// says so with a static member): the relation of the factors' slopes.
using RoundSums = std::array<E, max_degree + 1>;

template <Relation R>
constexpr bool is_homogeneous() {
  if constexpr (requires { R::homogeneous; }) {
    return R::homogeneous;
  }
  return false;
}

/// Adds one pair of entries' part of a round's sums: factor k runs linearly from low[k] to high[k].
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

/// round_sums by vectors, added to `sums`; false if the machine has none or `pairs` does not fill them.
bool vector_round(const VectorForm& form, std::span<E* const> tables, std::size_t pairs, const RoundWeights& weights,
                  bool with_one, RoundSums& sums);
/// Binds the lowest variable of f and g, tables of 4*pairs values, into bound_f and bound_g (the same places, or
/// others) and adds the sums of their product's next round, h(1) left out, in one pass; false as above.
bool vector_bind_products(const E* f, const E* g, E* bound_f, E* bound_g, std::size_t pairs, E challenge,
                          const RoundWeights& weights, RoundSums& sums);
/// Binds the lowest variable of a table of 2*pairs values, into `bound`, which may be the table.
void bind_lowest(const E* table, E* bound, std::size_t pairs, E challenge);

/// sum over x < pairs of weights[x]*g(..), g's factor k from tables[k][2x] to tables[k][2x+1].
template <Relation R>
RoundSums round_sums(const R& relation, std::span<E* const> tables, std::size_t pairs, const RoundWeights& weights,
                     bool with_one) {
  RoundSums sums{};
  if constexpr (requires { relation.vector_form(); }) {
    if (vector_round(relation.vector_form(), tables, pairs, weights, with_one, sums)) {
      return sums;
    }
  }
  std::array<E, max_factors> low;
  std::array<E, max_factors> high;
  const std::size_t n = tables.size();
  for (std::size_t x = 0; x < pairs; ++x) {
    for (std::size_t k = 0; k < n; ++k) {
      low[k] = tables[k][2 * x];
      high[k] = tables[k][2 * x + 1];
    }
    add_round_terms(relation, std::span<const E>(low.data(), n), std::span<const E>(high.data(), n),
                    weights.empty() ? E::one() : weights[x], with_one, sums);
  }
  return sums;
}

/// Binds the lowest variable of tables of 4*pairs values, in place, and sums the next round.
template <Relation R>
RoundSums bind_round(const R& relation, std::span<E* const> tables, std::size_t pairs, E challenge,
                     const RoundWeights& weights, bool with_one) {
  if constexpr (requires { relation.vector_form(); }) {
    const VectorForm form = relation.vector_form();
    if (form.kind == VectorForm::Kind::products && !with_one) {
      RoundSums sums{};
      std::size_t done = 0;
      while (done < form.terms && vector_bind_products(tables[done], tables[form.terms + done], tables[done],
                                                       tables[form.terms + done], pairs, challenge, weights, sums)) {
        ++done;
      }
      if (done == form.terms) {
        return sums;
      }
    }
  }
  for (E* table : tables) {
    bind_lowest(table, table, 2 * pairs, challenge);
  }
  return round_sums(relation, tables, pairs, weights, with_one);
}

/// Coefficients h_1 .. h_degree of the polynomial with these values at 0 .. degree.
std::vector<E> higher_coefficients(std::span<const E> values);

/// The claim that a sum-check is about, from its first round on.
class RunningClaim {
 public:
  /// Whether h(1) of the next round must be summed; otherwise it follows from the claim. `a`: the coordinate of the eq
  /// factor, if there is one.
  [[nodiscard]] bool needs_one(std::optional<E> a) const { return !claim_ || a == E::zero(); }
  /// Completes the values at 0 .. degree (`leading`: the last one is the leading coefficient), sends the round
  /// polynomial and returns the challenge that binds the variable.
  E send_round(ProverTranscript& transcript, std::span<E> values, bool leading, std::optional<E> a);

 private:
  std::optional<E> claim_;
};

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
  std::vector<E*> pointers;
  pointers.reserve(tables.size());
  for (std::vector<E>& table : tables) {
    pointers.push_back(table.data());
  }
  const auto coordinate = [&](unsigned i) { return at.empty() ? std::optional<E>{} : at[i]; };
  const auto weights = [&](unsigned i) { return at.empty() ? RoundWeights{} : RoundWeights(at.first(i)); };
  ProvenSumcheck result{Point(variables), {}};
  RunningClaim claim;
  for (unsigned i = variables; i-- > 0;) {
    const std::size_t pairs = std::size_t{1} << i;
    const bool with_one = claim.needs_one(coordinate(i));
    RoundSums sums =
        i + 1 == variables
            ? round_sums(relation, std::span<E* const>(pointers), pairs, weights(i), with_one)
            : bind_round(relation, std::span<E* const>(pointers), pairs, result.point[i + 1], weights(i), with_one);
    result.point[i] =
        claim.send_round(transcript, std::span(sums).first(relation.degree() + 1), is_homogeneous<R>(), coordinate(i));
  }
  for (E* table : pointers) {
    if (variables > 0) {
      bind_lowest(table, table, 1, result.point[0]);
    }
  }
  for (const E* table : pointers) {
    result.factors.push_back(*table);
  }
  return result;
}

/// The present chunks that this rank owns, with their factors' values: inner variables are bound here.
class OwnedChunks {
 public:
  /// Without values yet.
  OwnedChunks(const Shape& shape, const Ownership& ownership, std::size_t factors, const Communicator& comm);
  /// Computes the factors' values in owned chunk i.
  void fill(std::size_t i, std::span<const ChunkedFactor> factors) const;
  [[nodiscard]] std::size_t count() const { return chunks_.size(); }
  /// Number of owned chunk i among the present chunks.
  [[nodiscard]] std::size_t chunk(std::size_t i) const { return chunks_[i]; }
  /// The factors' values in owned chunk i, the variables bound so far apart.
  [[nodiscard]] std::span<E* const> tables(std::size_t i) const {
    return std::span<E* const>(tables_).subspan(i * factors_, factors_);
  }
  /// Binds the only variable that is left.
  void bind_last(E challenge);

 private:
  std::size_t factors_;
  std::size_t size_ = 0;  // of a chunk
  std::vector<std::size_t> chunks_;
  RawVector<E> values_;     // chunk after chunk, factor after factor, 2^inner_bits values each
  std::vector<E*> tables_;  // chunk after chunk
};

/// Every factor on the outer cube, its inner variables bound at `inner_point`. Collective.
std::vector<std::vector<E>> outer_tables(const Shape& shape, const OwnedChunks& chunks,
                                         std::span<const ChunkedFactor> factors, std::span<const E> inner_point,
                                         Communicator& comm);

/// Sharded: the sum over the present chunks of `shape` (absent ones contribute nothing) of g, or of beta(at, .)*g with
/// `at` in flat order. Inner variables are bound on the owners, one all-reduce a round; then the chunks' values are
/// gathered and the outer variables are bound identically everywhere. Collective.
template <Relation R>
ProvenSumcheck prove_chunked_sumcheck(ProverTranscript& transcript, const R& relation, const Shape& shape,
                                      const Ownership& ownership, std::span<const ChunkedFactor> factors,
                                      std::span<const E> at, Communicator& comm) {
  assert(factors.size() == relation.factors() && relation.degree() <= max_degree && factors.size() <= max_factors);
  const std::size_t values = relation.degree() + 1;
  const unsigned outer = shape.outer_bits();
  OwnedChunks chunks(shape, ownership, factors.size(), comm);
  std::vector<E> chunk_weight(chunks.count(), E::one());
  if (!at.empty()) {
    for (std::size_t i = 0; i < chunks.count(); ++i) {
      chunk_weight[i] = eq_index(at.first(outer), shape.outer_index(chunks.chunk(i)));
    }
  }
  const unsigned inner = shape.inner_bits();
  ProvenSumcheck result{Point(shape.bits()), {}};
  RunningClaim claim;
  for (unsigned j = inner; j-- > 0;) {
    const std::size_t pairs = std::size_t{1} << j;
    const RoundWeights weights = at.empty() ? RoundWeights{} : RoundWeights(at.subspan(outer, j));
    const std::optional<E> coordinate = at.empty() ? std::optional<E>{} : at[outer + j];
    const bool with_one = claim.needs_one(coordinate);
    RoundSums sums{};
#pragma omp parallel if (chunks.count() * pairs > least_parallel_pairs)
    {
      RoundSums partial{};
#pragma omp for schedule(dynamic) nowait
      for (std::size_t i = 0; i < chunks.count(); ++i) {
        RoundSums block;
        if (j + 1 == inner) {
          chunks.fill(i, factors);  // here, because then the values are in a cache
          block = round_sums(relation, chunks.tables(i), pairs, weights, with_one);
        } else {
          block = bind_round(relation, chunks.tables(i), pairs, result.point[outer + j + 1], weights, with_one);
        }
        for (std::size_t x = 0; x < values; ++x) {
          partial[x] += chunk_weight[i] * block[x];
        }
      }
#pragma omp critical
      for (std::size_t x = 0; x < values; ++x) {
        sums[x] += partial[x];
      }
    }
    comm.all_reduce_sum(std::span(sums).first(values));
    result.point[outer + j] =
        claim.send_round(transcript, std::span(sums).first(values), is_homogeneous<R>(), coordinate);
  }
  if (inner > 0) {
    chunks.bind_last(result.point[outer]);
  } else {
    for (std::size_t i = 0; i < chunks.count(); ++i) {
      chunks.fill(i, factors);
    }
  }
  ProvenSumcheck rest = prove_dense_sumcheck(
      transcript, relation, outer_tables(shape, chunks, factors, std::span<const E>(result.point).subspan(outer), comm),
      at.empty() ? at : at.first(outer));
  std::ranges::copy(rest.point, result.point.begin());
  result.factors = std::move(rest.factors);
  return result;
}

}  // namespace tessera
