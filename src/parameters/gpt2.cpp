#include "parameters/table.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tessera {
namespace {

using enum ParameterAxis;
using X = Exponents;

constexpr bool block = true, model = false;    // how often there is one
constexpr bool mine = true, all = false;       // rows that a rank keeps
constexpr bool fold = true, plain = false;     // at import
constexpr bool in_out = true, out_in = false;  // weights of a checkpoint
constexpr SyntheticValues weight{1, 0, 1, true, false}, update{1, 0, 1, true, true}, bias{1, 0, 0.05};
constexpr SyntheticValues gain{0, 1, 0.1}, offset{0, 0, 0.05};

// clang-format off
constexpr std::array<ParameterRow, parameter_count> table{{
    {embedding, "embedding", model, vocabulary, feature, mine, &X::residual, {"wte.weight"}, plain, {0, 0, 0.14}},
    {position, "position", model, place, feature, mine, &X::residual, {"wpe.weight"}, plain, {0, 0, 0.04}},
    {wq, "wq", block, head_feature, feature, mine, &X::wq, {"attn.c_attn.weight", in_out, 0, 3}, fold, weight},
    {wk, "wk", block, head_feature, feature, mine, &X::wk, {"attn.c_attn.weight", in_out, 1, 3}, plain, weight},
    {wv, "wv", block, head_feature, feature, mine, &X::wv, {"attn.c_attn.weight", in_out, 2, 3}, plain, weight},
    {wo, "wo", block, feature, feature, mine, &X::wo, {"attn.c_proj.weight", in_out}, plain, update},
    {w1, "w1", block, inner, feature, mine, &X::w1, {"mlp.c_fc.weight", in_out}, plain, weight},
    {w2, "w2", block, feature, inner, mine, &X::w2, {"mlp.c_proj.weight", in_out}, plain, update},
    {bq, "bq", block, head_feature, none, all, &X::bq, {"attn.c_attn.bias", out_in, 0, 3}, fold, bias},
    {bk, "bk", block, head_feature, none, all, &X::bk, {"attn.c_attn.bias", out_in, 1, 3}, plain, bias},
    {bv, "bv", block, head_feature, none, all, &X::bv, {"attn.c_attn.bias", out_in, 2, 3}, plain, bias},
    {bo, "bo", block, feature, none, all, &X::bo, {"attn.c_proj.bias"}, plain, bias},
    {b1, "b1", block, inner, none, all, &X::b1, {"mlp.c_fc.bias"}, plain, bias},
    {b2, "b2", block, feature, none, all, &X::b2, {"mlp.c_proj.bias"}, plain, bias},
    {gamma1, "gamma1", block, feature, none, all, &X::gamma1, {"ln_1.weight"}, plain, gain},
    {beta1, "beta1", block, feature, none, all, &X::beta1, {"ln_1.bias"}, plain, offset},
    {gamma2, "gamma2", block, feature, none, all, &X::gamma2, {"ln_2.weight"}, plain, gain},
    {beta2, "beta2", block, feature, none, all, &X::beta2, {"ln_2.bias"}, plain, offset},
    {gammaf, "gammaf", model, feature, none, all, &X::gammaf, {"ln_f.weight"}, plain, gain},
    {betaf, "betaf", model, feature, none, all, &X::betaf, {"ln_f.bias"}, plain, offset},
}};
// clang-format on
static_assert(std::ranges::is_sorted(table, {}, &ParameterRow::id) && table.back().id + 1 == parameter_count &&
              std::ranges::adjacent_find(table, {}, &ParameterRow::id) == table.end());

/// The smallest range that contains both.
Range hull(Range a, Range b) {
  if (a.size() == 0 || b.size() == 0) {
    return a.size() == 0 ? b : a;
  }
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

}  // namespace

std::span<const ParameterRow, parameter_count> parameter_table() { return table; }

std::size_t axis_length(ParameterAxis axis, const ModelShape& shape) {
  switch (axis) {
    case none:
      return 1;
    case vocabulary:
      return shape.n_vocab;
    case place:
      return shape.n_positions;
    case feature:
    case head_feature:
      return shape.n_embd;
    case inner:
      return shape.n_inner;
  }
  return 0;
}

Dimension axis_dimension(ParameterAxis axis, const ModelShape& shape) {
  if (axis == head_feature && std::has_single_bit(shape.head_size())) {
    return {shape.n_embd, Dimension::whole(shape.head_size()).log_chunk};
  }
  return Dimension::tiled(axis_length(axis, shape));
}

ParameterExtents ParameterRow::extents(const ModelShape& shape) const {
  return {per_block ? shape.n_layer : 1, axis_length(rows, shape), axis_length(columns, shape)};
}

Shape ParameterRow::oracle_shape(const ModelShape& shape) const {
  std::vector<Dimension> dimensions;
  if (per_block) {
    dimensions.push_back(Dimension::outer(shape.n_layer));
  }
  dimensions.push_back(axis_dimension(rows, shape));
  if (columns != none) {
    dimensions.push_back(axis_dimension(columns, shape));
  }
  return Shape(std::move(dimensions));
}

Ownership ParameterRow::ownership() const { return sharded ? Ownership{per_block ? std::size_t{1} : 0} : Ownership{}; }

Range ParameterRow::held_rows(const ModelShape& shape, int rank, int ranks) const {
  if (!sharded) {
    return {0, axis_length(rows, shape)};
  }
  const Range owned = owned_rows(axis_dimension(rows, shape), rank, ranks);
  if (rows != head_feature) {
    return owned;
  }
  const Range heads = owned_rows(Dimension::outer(shape.n_head), rank, ranks);
  return hull({heads.first * shape.head_size(), heads.last * shape.head_size()}, owned);
}

double ParameterRow::divisor(const ModelShape& shape) const {
  return folded ? std::sqrt(static_cast<double>(shape.head_size())) : 1.0;
}

std::vector<Shape> parameter_shapes(const ModelShape& shape) {
  std::vector<Shape> shapes;
  shapes.reserve(table.size());
  for (const ParameterRow& row : table) {
    shapes.push_back(row.oracle_shape(shape));
  }
  return shapes;
}

}  // namespace tessera
