#pragma once

#include <optional>

#include <functional>
#include "opening/opening.hpp"

namespace tessera {

/// One product term of a claim's weight on a tensor's chunks in one band of rows: on the band's rows it is
/// beta(row_point, .), on columns a product of tables, one a dimension (over the dimension's outer bits and its
/// remaining inner bits).
struct WeightTerm {
  std::size_t oracle = 0;
  std::size_t tensor = 0;
  std::size_t band = 0;  // its number, as OracleParameters::band() has it
  Point row_point;
  std::vector<std::vector<E>> high;
};

/// The claim's weight as a sum of terms. Almost always one a band: only an explicit head that reaches into the row bits
/// and is not itself a product there is expanded (a one-hot or constant head is a product).
std::vector<WeightTerm> weight_terms(const CommittedOracle& oracle, const LinearForm& claim, std::size_t number);

/// Threads share the columns of a chunk that has more of them: an embedding is a few such chunks.
inline constexpr std::size_t columns_of_part = std::size_t{1} << 13;

/// The weights of one chunk on its columns of the matrix, the product of the dimensions' tables there:
/// scale * leading[column / trailing.size()] * trailing[column % trailing.size()]. The scale collects the dimensions
/// with one entry, trailing is the last of the others. No trailing: all are zero.
struct ColumnWeights {
  E scale = E::one();
  std::vector<E> leading{E::one()};
  std::vector<E> trailing{E::one()};
  [[nodiscard]] std::size_t size() const { return leading.size() * trailing.size(); }
  [[nodiscard]] bool is_zero() const { return size() == 0 || scale == E::zero(); }
  /// The weights, one a column, behind others.
  void append_to(std::vector<E>& weights) const;

  /// What column_weights() keeps for the next chunk of the same shape and `high`: neighbours differ in few dimensions.
  struct Kept {
    std::optional<std::size_t> tables_of;  ///< chunk numbers that leading and trailing follow from
    std::optional<std::size_t> rest_of;    ///< and those without the last dimension's that `rest` does
    E rest;                                ///< the part of `scale` that is not the last dimension's
  } kept = {};
};
/// `weights`: memory of earlier ones; of other shapes, or changed since, with nothing kept.
void column_weights(const Shape& shape, std::span<const std::vector<E>> high, std::size_t chunk,
                    ColumnWeights& weights);

/// Weights of neighbouring chunks whose columns lie side by side.
class RunWeights {
 public:
  RunWeights(const Shape& shape, std::span<const std::vector<E>> high);
  /// How many of the chunks chunk, chunk + 1, .. below `last` have weights that are one product: those that differ in
  /// the last dimension alone, if that has one entry of each.
  [[nodiscard]] std::size_t run(std::size_t chunk, std::size_t last) const;
  /// The weights of `count` chunks, at most a run; valid until the next call.
  const ColumnWeights& operator()(std::size_t chunk, std::size_t count);

 private:
  const Shape& shape_;
  std::span<const std::vector<E>> high_;
  bool one_entry_;
  ColumnWeights of_chunk_, of_run_;
};

/// For every term F(lo) = sum_hi w(hi) * f(hi, lo), of all 2^log_rows rows: a term is zero on other bands' rows, but
/// not between rows. One integer pass a term; each rank passes over the chunks it owns. Collective.
std::vector<std::vector<E>> combine_rows(std::span<const WeightTerm> terms, std::span<const CommittedOracle> oracles,
                                         std::span<const OracleWitness> witnesses, Communicator& comm);

/// A chunk's columns of the oracle's matrix.
struct ChunkColumns {
  std::size_t first;
  std::size_t count;
};
ChunkColumns chunk_columns(const CommittedOracle& oracle, std::size_t tensor, std::size_t chunk);

/// Adds v_j(hi) = sum_lo weights[lo] * f_j(hi, lo) of the chunks that this rank owns to what is in place(t, c): of
/// chunk c of tensor t, one value a column. `weights`: of all 2^log_rows rows.
void bind_rows(const CommittedOracle& oracle, const OracleWitness& witness, std::span<const E> weights,
               const Communicator& comm,
               const std::function<std::span<E>(std::size_t tensor, std::size_t chunk)>& place);

}  // namespace tessera
