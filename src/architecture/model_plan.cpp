#include "architecture/model_plan.hpp"

#include <algorithm>

#include "architecture/layers.hpp"
#include "base/errors.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

/// Before any shape is built: score tiles are the only chunks whose number grows with the square of the length.
void check_score_tiles(const VerifyingKey& key, const Passes& passes) {
  check_limit("score tiles",
              key.shape.n_layer * key.shape.n_head * passes.queries.chunk_count() * passes.keys.chunk_count(),
              "length: score tiles");
}

const VerifyingKey& checked(const VerifyingKey& key) {
  check_key(key);
  return key;
}

HeadLayout heads_of(const ModelShape& model) {
  return {model.kv_heads(), model.head_size(), model.group(), model.rotary()};
}

/// (B, heads' dimensions, positions).
Shape with_heads(const ModelShape& model, ParameterAxis axis, const Dimension& positions) {
  std::vector<Dimension> dimensions{Dimension::outer(model.n_layer).named("B")};
  std::ranges::copy(axis_dimensions(axis, model), std::back_inserter(dimensions));
  if (!model.rotary()) {
    dimensions.back() = dimensions.back().named("A");
  }
  dimensions.push_back(positions);
  return Shape(std::move(dimensions));
}

/// Axes of the rows of wq, wk and wv.
std::array<ParameterAxis, 3> head_axes(const ModelShape& model) {
  using enum ParameterAxis;
  return !model.rotary() ? std::array{head_feature, head_feature, head_feature} : std::array{query, key, value};
}

}  // namespace

ModelShapes ModelShapes::of(const ModelShape& model, const Passes& passes, std::size_t generated,
                            const Division& division) {
  const HeadLayout heads = heads_of(model);
  const Dimension block = Dimension::outer(model.n_layer).named("B");
  const Dimension feature = division.rows(ParameterAxis::feature, model).named("F");
  const Dimension head = Dimension::outer(heads.heads).named(heads.split ? "G" : "H");
  // one entry where every query head has keys of its own: it has no coordinates
  const Dimension group = Dimension::outer(heads.group).named(heads.split ? "J" : "");
  const Dimension place = heads.place().named("P");
  const Dimension token = passes.rows.named("T");
  const Dimension positions = Dimension::whole(model.n_positions).named("S");
  const std::array axes = head_axes(model);
  ModelShapes shapes;
  shapes.block_feature = Shape({block, feature, token});
  shapes.feature = Shape({feature, token});
  shapes.block_token = Shape({block, token});
  shapes.token = Shape({token});
  for (std::size_t i = 0; i < axes.size(); ++i) {
    shapes.qkv[i] = with_heads(model, axes[i], token);
  }
  for (const StateTensor tensor : {state_keys, state_values}) {
    shapes.sequence[tensor] = with_heads(model, axes[tensor + 1], passes.keys);
    shapes.state[tensor] = with_heads(model, axes[tensor + 1], positions);
  }
  shapes.block_row = Shape({block, head, group, token});
  shapes.scores = Shape({block, head, group, passes.queries.named("Q"), passes.keys.named("K")}, Presence::causal,
                        model.window_of_block);
  shapes.head_feature = heads.split
                            ? Shape({block, head, group, place, token})
                            : Shape({block, Dimension{model.n_head << place.log_chunk, place.log_chunk, "HM"}, token});
  shapes.block_inner = Shape({block, division.rows(ParameterAxis::inner, model).named("N"), token});
  shapes.logits =
      Shape({division.rows(ParameterAxis::vocabulary, model).named("V"), Dimension::outer(generated).named("G")});
  return shapes;
}

ModelPlan ModelPlan::of(const VerifyingKey& key, const PassShape& pass, const Division& division) {
  return {key, pass, division};
}

StateShapes ModelPlan::state_shapes(const ModelShape& model) {
  return ModelShapes::of(model, Passes::of({.prompt = 1}), 1).state;
}

ModelPlan ModelPlan::of(const VerifyingKey& key, const Statement& statement, int ranks) {
  const PassShape pass = PassShape::of(statement);
  ModelPlan plan = of(key, pass, pass.division(ranks));
  check_statement(key, statement);
  return plan;
}

HeadLayout ModelPlan::heads() const { return heads_of(model); }

Range ModelPlan::key_rows(int rank, int ranks) const {
  return parameter_row(model, wk).held_rows(model, rank, {ranks, 0});
}

Range ModelPlan::query_rows(int rank, int ranks) const {
  return parameter_row(model, wq).held_rows(model, rank, {ranks, 0});
}

std::vector<const NormLayer*> ModelPlan::norms() const {
  if (model.layers.branches == Branches::shared_norm) {
    return {&norm_1, &norm_final};
  }
  return {&norm_1, &norm_2, &norm_final};
}

ModelPlan::ModelPlan(const VerifyingKey& key, const PassShape& shape, const Division& divided)
    : Plan(checked(key), shape, divided),
      model(key.shape),
      exponents(key.exponents),
      widths(key.widths),
      shifts(key.shape, key.widths, key.exponents),
      constants(IntegerConstants::of(key.shape, key.epsilon, key.widths)) {
  check_score_tiles(key, passes);
  shapes = ModelShapes::of(model, passes, generated, division);
  Builder builder(*this);
  std::vector<std::int64_t> exp_values(std::size_t{1} << exp_table_log_size);
  std::ranges::copy(key.exp_table, exp_values.begin());
  const std::size_t exp_table = builder.table("exp", exp_table_log_size, std::move(exp_values));
  const std::size_t activation = builder.table(model.rotary() ? "activation" : "gelu", widths.gate_bits,
                                               {key.gelu_table.begin(), key.gelu_table.end()});
  std::optional<std::size_t> cap_table;
  if (model.score_cap) {
    cap_table = builder.table("cap", cap_table_log_size, {key.cap_table.begin(), key.cap_table.end()});
  }
  std::size_t weights = 0;
  if (pass.sampling) {  // whose cutoff is a row of the table
    check_sampling(key, *pass.sampling, generated);
    weights = builder.table("weights", weight_table_log_size,
                            pass.sampling->dense() ? weights_within(pass.sampling->cutoff) : weight_table());
  }
  declare_stream(builder);
  declare_norms(builder);
  qkv = declare_qkv(builder, *this, key);
  declare_cache(builder);
  declare_attention(builder, exp_table, cap_table);
  declare_projection(builder, key);
  mlp = declare_mlp(builder, *this, key, activation);
  declare_logits(builder, key, weights);
  declare_embedding(builder);
  builder.finish_tables();
  shared_heads = tessera::shared_heads(model);
  pack_model(model, shapes.state);
  if (key.hiding_proofs > 0) {
    hide(key);
  }
}

void ModelPlan::declare_stream(Builder& builder) {
  const Ownership by_feature{1};
  const Width bits{constants.residual_bits, "w_x"};
  x_in = builder.committed_value<std::int32_t>("x_in", shapes.block_feature, by_feature, bits, true);
  x_mid = builder.committed_value<std::int32_t>("x_mid", shapes.block_feature, by_feature, bits, true);
  x_end = builder.committed_value<std::int32_t>("x_end", shapes.feature, {0}, bits, true);
  const bool after = model.norm_after();
  const int shift_out = shifts.of(after ? gamma_m : model.gated() ? w_down : w2);
  builder.clamp(x_in.checked, shift_out, ClampedTensor::Kind::later_blocks);
  builder.clamp(x_mid.checked, shifts.of(after ? gamma_o : wo));
  builder.clamp(x_end.checked, shift_out);
}

void ModelPlan::declare_norms(Builder& builder) {
  norm_1 = declare_norm(builder, *this, {"1", x_in, gamma1, beta1, scales::u1});
  if (model.layers.branches != Branches::shared_norm) {
    const bool parallel = model.layers.branches == Branches::parallel;
    norm_2 = declare_norm(builder, *this, {"2", parallel ? x_in : x_mid, gamma2, beta2, scales::u2});
  }
  norm_final = declare_norm(builder, *this, {"final", x_end, gammaf, betaf, scales::uf});
}

void ModelPlan::declare_logits(Builder& builder, const VerifyingKey& key, std::size_t weights) {
  LogitsSpec spec;
  spec.logits = shapes.logits;
  spec.feature = shapes.feature;
  spec.embedding = model.tied ? tessera::embedding : head;
  spec.n_vocab = model.n_vocab;
  spec.u = input_of(norm_final);
  if (pass.sampling) {
    if (model.logit_cap) {
      throw InputError("sampling: expected a model whose logits have no cap, found one that has");
    }
    spec.sampling = {*pass.sampling, check_sampling(key, *pass.sampling, generated), past, weights};
  }
  if (model.head_bias) {
    spec.bias = head_bias;
    spec.bias_shift = shifts.of_bias(head_bias);
  }
  logits = LogitsPlan::declare(builder, std::move(spec));
}

void ModelPlan::declare_cache(Builder& builder) {
  CacheSpec spec;
  spec.heads = heads();
  spec.q = shapes.qkv[0];
  spec.added_rows = {shapes.qkv[1], shapes.qkv[2]};
  spec.sequence = shapes.sequence;
  spec.state = shapes.state;
  spec.past = past;
  spec.added = kept_rows;
  spec.k = values_of(qkv)[1];
  spec.v = values_of(qkv)[2];
  cache = CachePlan::declare(builder, std::move(spec));
}

void ModelPlan::declare_attention(Builder& builder, std::size_t exp_table, std::optional<std::size_t> cap_table) {
  AttentionSpec spec;
  spec.heads = heads();
  spec.past = past;
  spec.scores = shapes.scores;
  spec.rows = shapes.block_row;
  spec.head_feature = shapes.head_feature;
  spec.table = exp_table;
  spec.cap_table = cap_table;
  spec.kappa = constants.kappa;
  spec.score_shift = shifts.of(scales::q);
  spec.key_bits = ceil_log2(keys());
  spec.q = values_of(qkv)[0];
  spec.k = cache.keys;
  spec.v = cache.values;
  attention = AttentionPlan::declare(builder, std::move(spec));
}

void ModelPlan::declare_projection(Builder& builder, const VerifyingKey& key) {
  ProjectionSpec spec;
  spec.feature = shapes.block_feature;
  spec.head_feature = shapes.head_feature;
  spec.heads = heads();
  spec.weight = wo;
  if (model.layers.bias) {
    spec.bias = bo;
    spec.bias_shift = shifts.of_bias(bo);
  }
  spec.norm = branch_norm(*this, key, gamma_o);
  spec.shift = shifts.of(wo);
  spec.residual_bits = constants.residual_bits;
  spec.x_in = x_in;
  spec.x_mid = x_mid;
  spec.y = attention.y;
  projection = ProjectionPlan::declare(builder, std::move(spec));
}

void ModelPlan::declare_embedding(Builder& builder) {
  EmbeddingSpec spec;
  spec.feature = shapes.block_feature;
  spec.rows = shapes.feature;
  spec.embedding = tessera::embedding;
  if (!model.rotary()) {
    spec.position = tessera::position;
  } else {
    spec.shift = shifts.of(tessera::embedding);
  }
  spec.vocabulary = division.rows(ParameterAxis::vocabulary, model);
  spec.positions = division.rows(ParameterAxis::place, model);
  spec.x_in = x_in;
  embedding = EmbeddingPlan::declare(builder, std::move(spec));
}

}  // namespace tessera
