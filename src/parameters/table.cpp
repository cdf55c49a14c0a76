#include "parameters/table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "tensor/team.hpp"

namespace tessera {
namespace {

using enum ParameterAxis;

constexpr bool block = true, model = false;  // how often there is one
constexpr bool mine = true, all = false;     // rows that a rank keeps
constexpr bool fold = true, plain = false;   // at import
constexpr SyntheticValues weight{0, 1, true, false}, update{0, 1, true, true}, bias{0, 0.05};
constexpr SyntheticValues gain{1, 0.1}, offset{0, 0.05};

// clang-format off
constexpr ParameterRow rows_of_all[] = {
    {embedding, "embedding", model, vocabulary, feature, mine, plain, {0, 0.14}},
    {position, "position", model, place, feature, mine, plain, {0, 0.04}},
    {wq, "wq", block, query, feature, mine, fold, weight},
    {wk, "wk", block, key, feature, mine, plain, weight},
    {wv, "wv", block, value, feature, mine, plain, weight},
    {wo, "wo", block, feature, mixed, mine, plain, update},
    {w1, "w1", block, inner, feature, mine, plain, weight},
    {w2, "w2", block, feature, inner, mine, plain, update},
    {w_gate, "w_gate", block, inner, feature, mine, plain, weight},
    {w_up, "w_up", block, inner, feature, mine, plain, weight},
    {w_down, "w_down", block, feature, inner, mine, plain, update},
    {bq, "bq", block, query, none, all, fold, bias},
    {bk, "bk", block, key, none, all, plain, bias},
    {bv, "bv", block, value, none, all, plain, bias},
    {bo, "bo", block, feature, none, all, plain, bias},
    {b1, "b1", block, inner, none, all, plain, bias},
    {b2, "b2", block, feature, none, all, plain, bias},
    {gamma_q, "gamma_q", block, rotated, none, all, fold, gain},
    {gamma_k, "gamma_k", block, rotated, none, all, plain, gain},
    {gamma_o, "gamma_o", block, feature, none, all, plain, gain},
    {gamma_o_low, "gamma_o_low", block, feature, none, all, plain, {}},
    {gamma_m, "gamma_m", block, feature, none, all, plain, gain},
    {gamma_m_low, "gamma_m_low", block, feature, none, all, plain, {}},
    {gamma1, "gamma1", block, feature, none, all, plain, gain},
    {beta1, "beta1", block, feature, none, all, plain, offset},
    {gamma2, "gamma2", block, feature, none, all, plain, gain},
    {beta2, "beta2", block, feature, none, all, plain, offset},
    {gammaf, "gammaf", model, feature, none, all, plain, gain},
    {betaf, "betaf", model, feature, none, all, plain, offset},
    {head, "head", model, vocabulary, feature, mine, plain, weight},
    {head_bias, "head_bias", model, vocabulary, none, all, plain, bias},
};
// clang-format on

bool has(const ModelShape& shape, ParameterId id) {
  switch (id) {
    case position:
      return !shape.rotary();
    case w1:
    case w2:
      return !shape.gated();
    case w_gate:
    case w_up:
    case w_down:
      return shape.gated();
    case bq:
    case bk:
    case bv:
      return shape.qkv_bias;
    case bo:
    case b1:
    case b2:
      return shape.layers.bias;
    case gamma_q:
    case gamma_k:
      return shape.head_norm;
    case gamma_o:
    case gamma_m:
    case gamma_o_low:
    case gamma_m_low:
      return shape.norm_after();
    case gamma1:
      return shape.norm_before();
    case beta1:
      return shape.norm_before() && !shape.rms();
    case gamma2:
      return shape.second_norm();
    case beta2:
      return shape.second_norm() && !shape.rms();
    case betaf:
      return !shape.rms();
    case tessera::head:
      return !shape.tied;
    case tessera::head_bias:
      return shape.head_bias;
    default:
      return true;
  }
}

/// The row as the model has it.
ParameterRow adapted(ParameterRow row, const ModelShape& shape) {
  if (!shape.rotary()) {
    // heads follow each other in the features, without dimensions of their own
    const bool of_heads = row.rows == query || row.rows == key || row.rows == value;
    row.rows = of_heads ? head_feature : row.rows;
    row.columns = row.columns == mixed ? feature : row.columns;
    return row;
  }
  // 1/sqrt(m) is folded into the last scale before the scores
  row.folded = row.folded && (row.id == gamma_q || !shape.head_norm);
  if (row.rows == rotated && shape.norm_across_heads) {
    row.rows = row.id == gamma_q ? query : key;
  }
  return row;
}

/// The smallest range that contains both.
Range hull(Range a, Range b) {
  if (a.size() == 0 || b.size() == 0) {
    return a.size() == 0 ? b : a;
  }
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

}  // namespace

std::vector<ParameterRow> parameter_table(const ModelShape& shape) {
  std::vector<ParameterRow> rows;
  for (const ParameterRow& row : rows_of_all) {
    if (has(shape, row.id)) {
      rows.push_back(adapted(row, shape));
    }
  }
  return rows;
}

bool has_parameter(const ModelShape& shape, ParameterId id) { return has(shape, id); }

ParameterRow parameter_row(const ModelShape& shape, ParameterId id) {
  for (const ParameterRow& row : parameter_table(shape)) {
    if (row.id == id) {
      return row;
    }
  }
  throw std::logic_error("parameter " + std::to_string(id) + ": not one of this model");
}

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
    case query:
    case mixed:
      return shape.query_features();
    case key:
    case value:
      return shape.key_features();
    case rotated:
      return shape.head_size();
  }
  return 0;
}

std::vector<Dimension> axis_dimensions(ParameterAxis axis, const ModelShape& shape) {
  const Dimension heads = Dimension::outer(shape.kv_heads()).named("G");
  const Dimension group = Dimension::outer(shape.group()).named("J");
  const Dimension half{2, 1, "R"};
  const Dimension place_of_half = Dimension::whole(shape.head_size() / 2).named("I");
  const Dimension place_of_head = Dimension::whole(shape.head_size()).named("P");
  switch (axis) {
    case none:
      return {};
    case query:
      return {heads, group, half, place_of_half};
    case key:
      return {heads, half, place_of_half};
    case value:
      return {heads, place_of_head};
    case mixed:
      return {heads, group, place_of_head};
    case rotated:
      return {half, place_of_half};
    default:
      break;
  }
  if (axis == head_feature && std::has_single_bit(shape.head_size())) {
    return {{shape.n_embd, Dimension::whole(shape.head_size()).log_chunk}};
  }
  return {Dimension::tiled(axis_length(axis, shape))};
}

namespace {

bool is_divided(ParameterAxis axis) { return axis == vocabulary || axis == place || axis == feature || axis == inner; }

/// log2 of the fewest rows of a share: a share has 2^8 cells, of weights and of activations: whole columns of
/// an oracle, and blocks of the look-ups.
unsigned log_least_rows(ParameterAxis axis, const ModelShape& shape, std::size_t tokens) {
  constexpr unsigned log_cells = ceil_log2(Division::enough_tokens);
  if (axis == vocabulary) {
    return log_cells;  // logits are of one token
  }
  unsigned beside = ceil_log2(std::max(tokens, std::size_t{1}));
  for (const ParameterRow& row : parameter_table(shape)) {
    if (row.sharded && is_divided(row.rows)) {
      unsigned bits = 0;
      for (const Dimension& dimension : axis_dimensions(row.columns, shape)) {
        bits += dimension.log_chunk;
      }
      beside = std::min(beside, bits);
    }
  }
  constexpr unsigned fewest = 2;  // rows of a matrix are multiplied four at a time
  return std::max(fewest, log_cells - std::min(log_cells, beside));
}

}  // namespace

Dimension Division::rows(ParameterAxis axis, const ModelShape& shape) const {
  const Dimension whole = axis_dimensions(axis, shape).front();
  return ranks == 1 || tokens == 0 || !is_divided(axis) ? whole
                                                        : whole.divided(log_least_rows(axis, shape, tokens), ranks);
}

bool Division::same(const Division& other, const ModelShape& shape) const {
  return ranks == other.ranks && std::ranges::all_of(std::array{vocabulary, place, feature, inner}, [&](auto axis) {
           return rows(axis, shape) == other.rows(axis, shape);
         });
}

std::size_t shared_heads(const ModelShape& shape) {
  if (shape.norm_across_heads) {  // a head's norm needs all of them
    return 0;
  }
  const bool padded = !shape.rotary() && !std::has_single_bit(shape.head_size());  // HeadLayout::whole()
  const bool apart = std::ranges::all_of(std::array{wq, wk, wv}, [&](ParameterId id) {
    return axis_dimensions(parameter_row(shape, id).rows, shape).front().chunk_count() == shape.kv_heads();
  });
  return apart && !padded ? shape.kv_heads() : 0;
}

ParameterExtents ParameterRow::extents(const ModelShape& shape) const {
  return {per_block ? shape.n_layer : 1, axis_length(rows, shape), axis_length(columns, shape)};
}

Shape ParameterRow::oracle_shape(const ModelShape& shape, const Division& division) const {
  std::vector<Dimension> dimensions;
  if (per_block) {
    dimensions.push_back(Dimension::outer(shape.n_layer));
  }
  const std::size_t first = dimensions.size();
  for (const ParameterAxis axis : {rows, columns}) {
    std::ranges::copy(axis_dimensions(axis, shape), std::back_inserter(dimensions));
  }
  if (sharded) {
    dimensions[first] = division.rows(rows, shape);
  }
  return Shape(std::move(dimensions));
}

Ownership ParameterRow::ownership() const { return sharded ? Ownership{per_block ? std::size_t{1} : 0} : Ownership{}; }

Range ParameterRow::held_rows(const ModelShape& shape, int rank, const Division& division) const {
  const std::size_t all_rows = axis_length(rows, shape);
  if (!sharded) {
    return {0, all_rows};
  }
  const Dimension first = division.rows(rows, shape);
  const std::size_t stride = all_rows / first.length;  // rows of one entry
  Range entries = owned_rows(first, rank, division.ranks);
  const bool of_heads = rows == head_feature || rows == query || rows == key || rows == value;
  if (const std::size_t heads = shared_heads(shape); entries.size() == 0 && of_heads && heads > 0) {
    const std::size_t begin = team_of(heads, rank, division.ranks).part << first.log_chunk;
    entries = {begin, std::min(begin + first.chunk(), first.length)};
  }
  const Range owned{entries.first * stride, entries.last * stride};
  if (rows != head_feature) {
    return owned;
  }
  const Range heads = owned_rows(Dimension::outer(shape.n_head), rank, division.ranks);
  return hull({heads.first * shape.head_size(), heads.last * shape.head_size()}, owned);
}

ScaleId ParameterRow::scale(const ModelShape& shape) const {
  const bool of_stream = id == tessera::position || (id == embedding && !shape.rotary());
  return of_stream ? ScaleId{scales::residual} : ScaleId{piece_of(id).value_or(id)};
}

double ParameterRow::divisor(const ModelShape& shape) const {
  return folded ? std::sqrt(static_cast<double>(shape.head_size())) : 1.0;
}

std::string layers_text(const ModelShape& shape) {
  const auto word = [](auto value, auto& names) { return std::string(names[static_cast<std::size_t>(value)]); };
  const Layers& layers = shape.layers;
  std::string text = word(layers.positions, position_names) + " positions, " + word(layers.norm, norm_names) + "s " +
                     word(layers.norm_place, norm_place_names) + " " + word(layers.branches, branch_names) +
                     (layers.branches == Branches::shared_norm ? ", " : " branches, ") + word(layers.mlp, mlp_names) +
                     " MLP";
  text += layers.bias ? ", biases" : "";
  text += shape.head_norm ? (shape.norm_across_heads ? ", norms on all of q and k" : ", norms on q and k") : "";
  text += shape.rotations > 1 ? ", " + std::to_string(shape.rotations) + " rotations" : "";
  for (const std::uint32_t window : kinds_of(shape.window_of_block)) {
    text += window > 0 ? ", windows of " + std::to_string(window) : "";
  }
  text += shape.score_cap ? ", capped scores" : "";
  text += shape.logit_cap ? ", capped logits" : "";
  return text;
}

std::vector<std::uint32_t> kinds_of(const std::vector<std::uint32_t>& of_block) {
  std::vector<std::uint32_t> kinds;
  for (const std::uint32_t kind : of_block) {
    if (std::ranges::find(kinds, kind) == kinds.end()) {
      kinds.push_back(kind);
    }
  }
  return kinds;
}

std::vector<EqualisedPlace> equalised_places(const ModelShape& shape) {
  if (!shape.rotary()) {
    return {};
  }
  const std::size_t pairs = shape.head_size() / 2;
  std::vector<EqualisedPlace> places;
  if (shape.norm_before()) {
    places.push_back({"norm_1", shape.n_layer * shape.n_embd});
  }
  if (shape.second_norm()) {
    places.push_back({"norm_2", shape.n_layer * shape.n_embd});
  }
  if (shape.gated()) {
    places.push_back({"product", shape.n_layer * shape.n_inner});
  }
  places.push_back({"value", shape.n_layer * shape.key_features()});
  const bool of_places = shape.head_norm && !shape.norm_across_heads;
  places.push_back({"rotated", shape.n_layer * (of_places ? 1 : shape.kv_heads()) * pairs});
  if (!shape.tied) {
    places.push_back({"norm_f", shape.n_embd});
  }
  return places;
}

std::vector<Shape> parameter_shapes(const ModelShape& shape, const Division& division) {
  std::vector<Shape> shapes;
  for (const ParameterRow& row : parameter_table(shape)) {
    shapes.push_back(row.oracle_shape(shape, division));
  }
  return shapes;
}

}  // namespace tessera
