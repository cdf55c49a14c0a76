#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "parameters/shape.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// The parameter tensors: names for the rows of parameter_table(). Layer norm 1 is before attention, 2 before the MLP,
/// f the final one.
enum ParameterId : std::size_t {
  embedding,
  position,
  wq,
  wk,
  wv,
  wo,
  w1,
  w2,
  bq,
  bk,
  bv,
  bo,
  b1,
  b2,
  gamma1,
  beta1,
  gamma2,
  beta2,
  gammaf,
  betaf,
  parameter_count
};

/// One value for each parameter.
template <class T>
using ByParameter = std::array<T, parameter_count>;

/// What the rows or columns of parameters are. `head_feature` are features in the layout of q, k and v.
enum class ParameterAxis : std::uint8_t { none, vocabulary, place, feature, head_feature, inner };

/// Number of an axis' entries: 1 for none.
std::size_t axis_length(ParameterAxis axis, const ModelShape& shape);
/// The axis as a dimension of tensors: tiled, but q, k and v in chunks of a head if m is a power of two.
Dimension axis_dimension(ParameterAxis axis, const ModelShape& shape);

/// Extents of one parameter tensor: blocks is 1 where there is no block dimension, columns 1 where there is no `in`.
struct ParameterExtents {
  std::size_t blocks = 0, rows = 0, columns = 0;
  [[nodiscard]] std::size_t count() const { return blocks * rows * columns; }
  friend bool operator==(const ParameterExtents&, const ParameterExtents&) = default;
};

/// Where a parameter lies in a checkpoint: part `part` of `parts` of a tensor, whose name follows "h.<block>." for
/// those of a block. The parts of a tensor stand side by side along the rows of the parameter.
struct CheckpointPlace {
  std::string_view tensor;
  bool transposed = false;  // (in, out)
  std::size_t part = 0, parts = 1;
};

/// Distribution of a synthetic model's values. The deviation is divided by sqrt(columns) if `by_inputs` and by
/// sqrt(2*n_layer) if `by_depth`.
struct SyntheticValues {
  int turn = 0;  // parameters of turn 0 take their random numbers first
  double mean = 0, deviation = 0;
  bool by_inputs = false, by_depth = false;
};

/// Everything that is known about one parameter of the architecture. Whatever reads, writes, quantizes, bounds, shards
/// or commits to parameters is a loop over these rows.
struct ParameterRow {
  ParameterId id;
  std::string_view name;  // in files and messages, and of its exponent
  bool per_block;         // all blocks are stacked: the first dimension is the block
  ParameterAxis rows;     // out
  ParameterAxis columns;  // in; none for vectors
  bool sharded;           // a rank keeps its rows; otherwise all
  std::int32_t Exponents::*exponent;
  CheckpointPlace checkpoint;
  bool folded;  // divided by sqrt(m) at import
  SyntheticValues synthetic;

  [[nodiscard]] ParameterExtents extents(const ModelShape& shape) const;
  /// Tensor of the parameter oracle: (block,) rows (, columns).
  [[nodiscard]] Shape oracle_shape(const ModelShape& shape) const;
  /// Who owns which chunk of it.
  [[nodiscard]] Ownership ownership() const;
  /// Rows of every block that `rank` of `ranks` keeps: those that it owns in the oracle, which are those that it
  /// computes with. Where heads straddle chunks, those of its heads too: a few rows are then kept and computed twice.
  [[nodiscard]] Range held_rows(const ModelShape& shape, int rank, int ranks) const;
  /// What a checkpoint's values are divided by at import: sqrt(m) if folded.
  [[nodiscard]] double divisor(const ModelShape& shape) const;
};

/// By ParameterId, in the order of the parameter oracle.
std::span<const ParameterRow, parameter_count> parameter_table();

/// Shapes of the tensors of the parameter oracle.
std::vector<Shape> parameter_shapes(const ModelShape& shape);

/// Calls visit(name, size) for all sizes, in the order of the key.
template <class S, class Visitor>
void for_each_size(S& shape, Visitor&& visit) {
  visit(std::string_view("n_layer"), shape.n_layer);
  visit(std::string_view("n_embd"), shape.n_embd);
  visit(std::string_view("n_head"), shape.n_head);
  visit(std::string_view("n_inner"), shape.n_inner);
  visit(std::string_view("n_vocab"), shape.n_vocab);
  visit(std::string_view("n_positions"), shape.n_positions);
}

/// Calls visit(name, exponent) for all exponents, in the order of the key: activations, then parameters. Embeddings
/// have that of the residual stream.
template <class X, class Visitor>
void for_each_exponent(X& exponents, Visitor&& visit) {
  visit(std::string_view("residual"), exponents.residual);
  visit(std::string_view("u1"), exponents.u1);
  visit(std::string_view("u2"), exponents.u2);
  visit(std::string_view("uf"), exponents.uf);
  visit(std::string_view("q"), exponents.q);
  visit(std::string_view("k"), exponents.k);
  visit(std::string_view("v"), exponents.v);
  visit(std::string_view("score"), exponents.score);
  visit(std::string_view("mlp"), exponents.mlp);
  visit(std::string_view("gelu"), exponents.gelu);
  for (const ParameterRow& row : parameter_table()) {
    if (row.exponent != &Exponents::residual) {
      visit(row.name, exponents.*row.exponent);
    }
  }
}

}  // namespace tessera
