#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parameters/scales.hpp"
#include "tensor/chunked_tensor.hpp"

namespace tessera {

/// One value for each parameter; what a model does not have keeps its default.
template <class T>
using ByParameter = std::array<T, parameter_count>;

/// What the rows or columns of parameters are. `head_feature` are GPT-2's features in the layout of q, k and v. Grouped
/// heads have several dimensions: `query` (G,J,R,I), `key` (G,R,I), `value` (G,P), `mixed` (G,J,P) and `rotated` (R,I),
/// G key/value heads, J query heads of one, R halves of a head, I a half's places, P a head's places.
enum class ParameterAxis : std::uint8_t {
  none,
  vocabulary,
  place,
  feature,
  head_feature,
  inner,
  query,
  key,
  value,
  mixed,
  rotated
};

/// Number of an axis' entries: 1 for none.
std::size_t axis_length(ParameterAxis axis, const ModelShape& shape);
/// The axis as dimensions of tensors, none for none: tiled, but q, k and v in chunks of a head if m is a power of two,
/// grouped heads by dimensions of their own.
std::vector<Dimension> axis_dimensions(ParameterAxis axis, const ModelShape& shape);

/// How finely a job divides the rows of its tensors among ranks: so finely that all ranks have about as much, but no
/// share may become shorter than what the prover's kernels and an oracle's columns need. Weights and the activations
/// that they make are divided alike, so that a rank keeps the weights that it computes with.
struct Division {
  int ranks = 1;
  std::size_t tokens = 0;  // that stand beside each other in a chunk; 0: chunks are distributed whole
  /// Tokens with which the division is finest: more of them divide no finer.
  static constexpr std::size_t enough_tokens = std::size_t{1} << 8;
  /// The division of a job in which no pass is too short for it.
  static Division finest(int ranks) { return {ranks, enough_tokens}; }

  /// Rows of features, MLP features, vocabulary and positions; others are distributed in whole chunks: by heads.
  [[nodiscard]] Dimension rows(ParameterAxis axis, const ModelShape& shape) const;
  /// Whether another one distributes a model's tensors alike.
  [[nodiscard]] bool same(const Division& other, const ModelShape& shape) const;
};

/// Heads (of keys and values) where each has chunks of its own in q, k and v and in what makes them, so that a Team may
/// infer one; 0 where heads straddle chunks.
std::size_t shared_heads(const ModelShape& shape);

/// Extents of one parameter tensor: blocks is 1 where there is no block dimension, columns 1 where there is no `in`.
struct ParameterExtents {
  std::size_t blocks = 0, rows = 0, columns = 0;
  [[nodiscard]] std::size_t count() const { return blocks * rows * columns; }
  friend bool operator==(const ParameterExtents&, const ParameterExtents&) = default;
};

/// Distribution of a synthetic model's values. The deviation is divided by sqrt(columns) if `by_inputs` and by
/// sqrt(2*n_layer) if `by_depth`.
struct SyntheticValues {
  double mean = 0, deviation = 0;
  bool by_inputs = false, by_depth = false;
};

/// Everything that is known about one parameter. Whatever reads, writes, quantizes, bounds, shards
/// or commits to parameters is a loop over these rows.
struct ParameterRow {
  ParameterId id;
  std::string_view name;  // in files and messages, and of its exponent
  bool per_block;         // all blocks are stacked: the first dimension is the block
  ParameterAxis rows;     // out
  ParameterAxis columns;  // in; none for vectors
  bool sharded;           // a rank keeps its rows; otherwise all
  bool folded;            // divided by sqrt(m) at import
  SyntheticValues synthetic;

  [[nodiscard]] ParameterExtents extents(const ModelShape& shape) const;
  /// Tensor of the parameter oracle: (block,) rows (, columns).
  [[nodiscard]] Shape oracle_shape(const ModelShape& shape, const Division& division = {}) const;
  /// Who owns which chunk of it.
  [[nodiscard]] Ownership ownership() const;
  /// Rows of every block that `rank` keeps: those that it owns in the oracle, which are those that it
  /// computes with. Where heads straddle chunks, those of its heads too: a few rows are then kept and computed twice.
  /// Of a head's team every rank keeps the head's rows.
  [[nodiscard]] Range held_rows(const ModelShape& shape, int rank, const Division& division) const;
  /// Which exponent its values have: its own, or with learned positions an embedding that of the residual stream.
  [[nodiscard]] ScaleId scale(const ModelShape& shape) const;
  /// What a checkpoint's values are divided by at import: sqrt(m) if folded.
  [[nodiscard]] double divisor(const ModelShape& shape) const;
};

/// The parameters that a model has, in the order of the parameter oracle.
std::vector<ParameterRow> parameter_table(const ModelShape& shape);
/// Whether a model has a parameter.
bool has_parameter(const ModelShape& shape, ParameterId id);
/// The table's row of one parameter. Throws std::logic_error for a parameter that the model does not have.
ParameterRow parameter_row(const ModelShape& shape, ParameterId id);

/// A place of equalisation and how many powers it has.
struct EqualisedPlace {
  std::string_view name;
  std::size_t count = 0;
};
/// norm_1: gamma1 (and beta1) and the columns of wq, wk, wv, (block, feature), and of the MLP's where it reads the
/// same; norm_2: gamma2 and the columns of w_gate, w_up (or w1); where there are such norms. product: rows of w_up and
/// columns of w_down, (block, inner), of a gated MLP. value: rows of wv and columns of wo, (block, key feature).
/// rotated: rows of wq and wk by (block, key head, i < m/2), or gamma_q and gamma_k by (block, i < m/2), or where the
/// norm is of all heads by (block, key head, i < m/2). norm_f: gammaf and the columns of head, (feature), where the
/// head is untied. None with learned positions.
std::vector<EqualisedPlace> equalised_places(const ModelShape& shape);

/// Shapes of the tensors of the parameter oracle.
std::vector<Shape> parameter_shapes(const ModelShape& shape, const Division& division = {});

/// Calls visit(name, choice, names) for what a model's layers are, in the order of the key: before everything else.
template <class S, class Visitor>
void for_each_choice(S& shape, Visitor&& visit) {
  visit(std::string_view("positions"), shape.layers.positions, std::span(position_names));
  visit(std::string_view("norm"), shape.layers.norm, std::span(norm_names));
  visit(std::string_view("norm_place"), shape.layers.norm_place, std::span(norm_place_names));
  visit(std::string_view("branches"), shape.layers.branches, std::span(branch_names));
  visit(std::string_view("mlp"), shape.layers.mlp, std::span(mlp_names));
}

/// Calls visit(name, size) for all sizes, in the order of the key.
template <class S, class Visitor>
void for_each_size(S& shape, Visitor&& visit) {
  visit(std::string_view("n_layer"), shape.n_layer);
  visit(std::string_view("n_embd"), shape.n_embd);
  visit(std::string_view("n_head"), shape.n_head);
  visit(std::string_view("n_inner"), shape.n_inner);
  visit(std::string_view("n_vocab"), shape.n_vocab);
  visit(std::string_view("n_positions"), shape.n_positions);
  if (shape.rotary()) {
    visit(std::string_view("n_kv_head"), shape.n_kv_head);
    visit(std::string_view("head_dim"), shape.head_dim);
  }
}

/// Calls visit(name, flag) for what models have or do not have, in the order of the key.
template <class S, class Visitor>
void for_each_flag(S& shape, Visitor&& visit) {
  if (shape.rotary()) {
    visit(std::string_view("bias"), shape.layers.bias);
    visit(std::string_view("tied"), shape.tied);
    visit(std::string_view("qkv_bias"), shape.qkv_bias);
    visit(std::string_view("head_norm"), shape.head_norm);
    visit(std::string_view("norm_across_heads"), shape.norm_across_heads);
    visit(std::string_view("head_bias"), shape.head_bias);
  }
}

/// Calls visit(name, cap) for the caps that models may have, in the order of the key.
template <class S, class Visitor>
void for_each_cap(S& shape, Visitor&& visit) {
  if (shape.rotary()) {
    visit(std::string_view("score_cap"), shape.score_cap);
    visit(std::string_view("logit_cap"), shape.logit_cap);
  }
}

/// Calls visit(name, width) for the widths that a model chooses, in the order of the key: none with learned positions.
template <class W, class Visitor>
void for_each_width(const ModelShape& shape, W& widths, Visitor&& visit) {
  if (shape.rotary() && shape.gated()) {
    visit(std::string_view("product_bits"), widths.product_bits);
    visit(std::string_view("gate_bits"), widths.gate_bits);
  }
  if (shape.rotary()) {
    visit(std::string_view("final_bits"), widths.final_bits);
    visit(std::string_view("norm_shift"), widths.norm_shift);
  }
  if (shape.norm_after()) {
    visit(std::string_view("branch_bits"), widths.branch_bits);
  }
  if (!shape.norm_before()) {
    visit(std::string_view("stream_bits"), widths.stream_bits);
  }
}

/// Calls visit(name, exponent) for all exponents of a model, in the order of the key: activations, then parameters.
/// Learned positions and the embedding beside them have that of the residual stream.
template <class X, class Visitor>
void for_each_exponent(const ModelShape& shape, X& exponents, Visitor&& visit) {
  for (const NamedScale& scale : activation_scales(shape)) {
    visit(scale.name, exponents[scale.id]);
  }
  for (const ParameterRow& row : parameter_table(shape)) {
    if (row.scale(shape) == row.id) {
      visit(row.name, exponents[row.id]);
    }
  }
}

/// A model's layers in words: "rotary positions, RMS norms before sequential branches, gated MLP".
std::string layers_text(const ModelShape& shape);

/// Different values of a list by block, in the order in which blocks have them.
std::vector<std::uint32_t> kinds_of(const std::vector<std::uint32_t>& of_block);

}  // namespace tessera
