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
using X = Exponents;

constexpr bool block = true, model = false;    // how often there is one
constexpr bool mine = true, all = false;       // rows that a rank keeps
constexpr bool fold = true, plain = false;     // at import
constexpr bool in_out = true, out_in = false;  // weights of a checkpoint
constexpr SyntheticValues weight{0, 1, true, false}, update{0, 1, true, true}, bias{0, 0.05};
constexpr SyntheticValues gain{1, 0.1}, offset{0, 0.05};

// clang-format off
constexpr ParameterRow gpt2[] = {
    {embedding, "embedding", model, vocabulary, feature, mine, &X::residual, {"wte.weight"}, plain, {0, 0.14}},
    {position, "position", model, place, feature, mine, &X::residual, {"wpe.weight"}, plain, {0, 0.04}},
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
};

constexpr ParameterRow llama[] = {
    {embedding, "embedding", model, vocabulary, feature, mine, &X::embedding, {"model.embed_tokens.weight"}, plain,
     {0, 0.14}},
    {wq, "wq", block, query, feature, mine, &X::wq, {"self_attn.q_proj.weight"}, fold, weight},
    {wk, "wk", block, key, feature, mine, &X::wk, {"self_attn.k_proj.weight"}, plain, weight},
    {wv, "wv", block, value, feature, mine, &X::wv, {"self_attn.v_proj.weight"}, plain, weight},
    {wo, "wo", block, feature, mixed, mine, &X::wo, {"self_attn.o_proj.weight"}, plain, update},
    {w_gate, "w_gate", block, inner, feature, mine, &X::w_gate, {"mlp.gate_proj.weight"}, plain, weight},
    {w_up, "w_up", block, inner, feature, mine, &X::w_up, {"mlp.up_proj.weight"}, plain, weight},
    {w_down, "w_down", block, feature, inner, mine, &X::w_down, {"mlp.down_proj.weight"}, plain, update},
    {bq, "bq", block, query, none, all, &X::bq, {"self_attn.q_proj.bias"}, fold, bias},
    {bk, "bk", block, key, none, all, &X::bk, {"self_attn.k_proj.bias"}, plain, bias},
    {bv, "bv", block, value, none, all, &X::bv, {"self_attn.v_proj.bias"}, plain, bias},
    {gamma_q, "gamma_q", block, rotated, none, all, &X::gamma_q, {"self_attn.q_norm.weight"}, fold, gain},
    {gamma_k, "gamma_k", block, rotated, none, all, &X::gamma_k, {"self_attn.k_norm.weight"}, plain, gain},
    {gamma1, "gamma1", block, feature, none, all, &X::gamma1, {"input_layernorm.weight"}, plain, gain},
    {gamma2, "gamma2", block, feature, none, all, &X::gamma2, {"post_attention_layernorm.weight"}, plain, gain},
    {gammaf, "gammaf", model, feature, none, all, &X::gammaf, {"model.norm.weight"}, plain, gain},
    {head, "head", model, vocabulary, feature, mine, &X::head, {"lm_head.weight"}, plain, weight},
};
// clang-format on

/// Whether a model of the Llama family has a parameter. 1/sqrt(m) is folded into the last scale before the scores.
bool has(const ModelShape& shape, ParameterId id) {
  switch (id) {
    case bq:
    case bk:
    case bv:
      return shape.qkv_bias;
    case gamma_q:
    case gamma_k:
      return shape.head_norm;
    case tessera::head:
      return !shape.tied;
    default:
      return true;
  }
}

/// The smallest range that contains both.
Range hull(Range a, Range b) {
  if (a.size() == 0 || b.size() == 0) {
    return a.size() == 0 ? b : a;
  }
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

}  // namespace

std::string_view architecture_name(Architecture architecture) {
  return architecture == Architecture::gpt2 ? "gpt2" : "llama";
}

std::vector<ParameterRow> parameter_table(const ModelShape& shape) {
  if (shape.gpt2()) {
    return {std::begin(gpt2), std::end(gpt2)};
  }
  std::vector<ParameterRow> rows;
  for (ParameterRow row : llama) {
    if (has(shape, row.id)) {
      row.folded = row.folded && (row.id == gamma_q || !shape.head_norm);
      rows.push_back(row);
    }
  }
  return rows;
}

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
  const bool padded = shape.gpt2() && !std::has_single_bit(shape.head_size());  // HeadLayout::whole()
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

double ParameterRow::divisor(const ModelShape& shape) const {
  return folded ? std::sqrt(static_cast<double>(shape.head_size())) : 1.0;
}

std::vector<EqualisedPlace> equalised_places(const ModelShape& shape) {
  if (shape.gpt2()) {
    return {};
  }
  const std::size_t pairs = shape.head_size() / 2;
  std::vector<EqualisedPlace> places{{"norm_1", shape.n_layer * shape.n_embd},
                                     {"norm_2", shape.n_layer * shape.n_embd},
                                     {"product", shape.n_layer * shape.n_inner},
                                     {"value", shape.n_layer * shape.key_features()},
                                     {"rotated", shape.n_layer * (shape.head_norm ? 1 : shape.kv_heads()) * pairs}};
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
