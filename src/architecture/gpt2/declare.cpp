#include <algorithm>

#include "architecture/gpt2/gpt2.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

/// Before any shape is built: score tiles are the only chunks whose number grows with the square of the length.
void check_score_tiles(const VerifyingKey& key, std::size_t rows, std::size_t keys) {
  check_limit("score tiles", key.shape.n_layer * key.shape.n_head * ((rows + 63) / 64) * ((keys + 63) / 64),
              "length: score tiles");
}

const VerifyingKey& checked(const VerifyingKey& key) {
  check_key(key);
  return key;
}

}  // namespace

Gpt2Shapes Gpt2Shapes::of(const ModelShape& model, std::size_t past, std::size_t padded_tokens, std::size_t generated) {
  const HeadLayout heads{model.n_head, model.head_size()};
  const Dimension block = Dimension::outer(model.n_layer).named("B");
  const Dimension feature = Dimension::tiled(model.n_embd).named("F");
  const Dimension head = Dimension::outer(model.n_head).named("H");
  const unsigned place = heads.place().log_chunk;
  const Dimension head_feature = heads.whole() ? Dimension{model.n_embd, place} : feature;
  const Dimension token = Dimension::whole(padded_tokens).named("T");
  const Dimension query{padded_tokens, std::min(token.log_chunk, 7U), "Q"};
  const Dimension sequence = Dimension::whole(past + padded_tokens);
  const Dimension key{sequence.length, std::min(sequence.log_chunk, 7U), "K"};
  Gpt2Shapes shapes;
  shapes.block_feature = Shape({block, feature, token});
  shapes.feature = Shape({feature, token});
  shapes.block_token = Shape({block, token});
  shapes.token = Shape({token});
  shapes.block_qkv = Shape({block, head_feature.named("A"), token});
  shapes.block_row = Shape({block, head, token});
  shapes.sequence = Shape({block, head_feature.named("A"), sequence});
  shapes.sequence_heads = Shape({block, Dimension{model.n_head << place, place}, sequence});
  shapes.state = Shape({block, head_feature.named("A"), Dimension::whole(model.n_positions).named("S")});
  shapes.scores = Shape({block, head, query, key}, Presence::causal, key.chunk_count() - query.chunk_count());
  shapes.head_feature = Shape({block, Dimension{model.n_head << place, place, "HM"}, token});
  shapes.block_inner = Shape({block, Dimension::tiled(model.n_inner).named("N"), token});
  shapes.logits = Shape({Dimension::tiled(model.n_vocab).named("V"), Dimension::whole(generated).named("G")});
  return shapes;
}

Gpt2Plan Gpt2Plan::of(const VerifyingKey& key, const PassShape& pass) { return {key, pass}; }

Shape Gpt2Plan::state_shape(const ModelShape& model) { return Gpt2Shapes::of(model, 0, 1, 1).state; }

Gpt2Plan Gpt2Plan::of(const VerifyingKey& key, const Statement& statement) {
  Gpt2Plan plan = of(key, PassShape::of(statement));
  check_statement(key, statement);
  return plan;
}

Gpt2Plan::Gpt2Plan(const VerifyingKey& key, const PassShape& shape)
    : Plan(checked(key), shape),
      model(key.shape),
      exponents(key.exponents),
      constants(IntegerConstants::of(key.shape, key.epsilon)) {
  check_score_tiles(key, tokens, past + tokens);
  shapes = Gpt2Shapes::of(model, past, padded_tokens, generated);
  Builder builder(*this);
  std::vector<std::int64_t> exp_values(std::size_t{1} << exp_table_log_size);
  std::ranges::copy(key.exp_table, exp_values.begin());
  const std::size_t exp_table = builder.table("exp", exp_table_log_size, std::move(exp_values));
  const std::size_t gelu_table =
      builder.table("gelu", gelu_table_log_size, {key.gelu_table.begin(), key.gelu_table.end()});
  const Ownership by_feature{1};
  const Width bits{constants.residual_bits, "w_x"};
  x_in = builder.committed_value<std::int32_t>("x_in", shapes.block_feature, by_feature, bits, true);
  x_mid = builder.committed_value<std::int32_t>("x_mid", shapes.block_feature, by_feature, bits, true);
  x_end = builder.committed_value<std::int32_t>("x_end", shapes.feature, {0}, bits, true);
  declare_layer_norms(builder);
  declare_attention(builder, exp_table);
  declare_mlp(builder, gelu_table);
  logits =
      LogitsPlan::declare(builder, {shapes.logits, shapes.feature, tessera::embedding, model.n_vocab, norm_final.u});
  builder.finish_tables();
  embedding = {shapes.block_feature,
               tessera::embedding,
               tessera::position,
               Dimension::tiled(model.n_vocab),
               Dimension::tiled(model.n_positions),
               x_in};
  pack(parameter_shapes(model), shapes.state);
}

void Gpt2Plan::declare_layer_norms(Builder& builder) {
  const Exponents& e = exponents;
  const auto spec = [&](const char* name, const char* title, const CommittedValue<std::int32_t>& x, ParameterId gamma,
                        ParameterId beta, std::int32_t u) {
    const std::int32_t gain = e.*parameter_table()[gamma].exponent;
    const bool final = gamma == gammaf;
    LayerNormSpec norm;
    norm.name = name;
    norm.title = title;
    norm.activation = final ? shapes.feature : shapes.block_feature;
    norm.token = final ? shapes.token : shapes.block_token;
    norm.x = x;
    norm.gamma = gamma;
    norm.beta = beta;
    norm.shift = e.shift_norm(gain, u);
    norm.bias_shift = e.bias_norm(gain, e.*parameter_table()[beta].exponent);
    norm.features = model.n_embd;
    norm.residual_bits = constants.residual_bits;
    norm.inverse_bits = constants.inverse_bits;
    norm.epsilon = constants.epsilon;
    norm.norm_numerator = constants.norm_numerator;
    return norm;
  };
  norm_1 = LayerNormPlan::declare(builder, spec("layer_norm_1", "layer norm 1", x_in, gamma1, beta1, e.u1));
  norm_2 = LayerNormPlan::declare(builder, spec("layer_norm_2", "layer norm 2", x_mid, gamma2, beta2, e.u2));
  norm_final =
      LayerNormPlan::declare(builder, spec("layer_norm_final", "final layer norm", x_end, gammaf, betaf, e.uf));
}

void Gpt2Plan::declare_attention(Builder& builder, std::size_t exp_table) {
  const Exponents& e = exponents;
  const HeadLayout heads{model.n_head, model.head_size()};
  QkvSpec inputs;
  inputs.feature = shapes.block_feature;
  inputs.qkv = shapes.block_qkv;
  inputs.heads = heads;
  inputs.weight = {wq, wk, wv};
  inputs.bias = {bq, bk, bv};
  inputs.shift = {e.shift_q(), e.shift_k(), e.shift_v()};
  inputs.bias_shift = {e.bias_q(), e.bias_k(), e.bias_v()};
  inputs.u = norm_1.u;
  qkv = QkvPlan::declare(builder, std::move(inputs));
  CacheSpec sequence;
  sequence.heads = heads;
  sequence.qkv = shapes.block_qkv;
  sequence.sequence = shapes.sequence;
  sequence.state = shapes.state;
  sequence.past = past;
  sequence.added = kept_rows;
  sequence.k = qkv.value[1];
  sequence.v = qkv.value[2];
  cache = CachePlan::declare(builder, std::move(sequence));
  AttentionSpec spec;
  spec.heads = heads;
  spec.qkv = shapes.block_qkv;
  spec.sequence = shapes.sequence;
  spec.sequence_heads = shapes.sequence_heads;
  spec.past = past;
  spec.scores = shapes.scores;
  spec.rows = shapes.block_row;
  spec.head_feature = shapes.head_feature;
  spec.table = exp_table;
  spec.kappa = constants.kappa;
  spec.score_shift = e.shift_score();
  spec.key_bits = ceil_log2(keys());
  spec.q = qkv.value[0];
  spec.k = cache.keys;
  spec.v = cache.values;
  attention = AttentionPlan::declare(builder, std::move(spec));
  ProjectionSpec out;
  out.feature = shapes.block_feature;
  out.head_feature = shapes.head_feature;
  out.heads = heads;
  out.weight = wo;
  out.bias = bo;
  out.shift = e.shift_o();
  out.bias_shift = e.bias_o();
  out.residual_bits = constants.residual_bits;
  out.x_in = x_in;
  out.x_mid = x_mid;
  out.y = attention.y;
  projection = ProjectionPlan::declare(builder, std::move(out));
}

void Gpt2Plan::declare_mlp(Builder& builder, std::size_t gelu_table) {
  const Exponents& e = exponents;
  MlpSpec spec;
  spec.feature = shapes.block_feature;
  spec.inner = shapes.block_inner;
  spec.w1 = w1;
  spec.b1 = b1;
  spec.w2 = w2;
  spec.b2 = b2;
  spec.shift_1 = e.shift_1();
  spec.shift_2 = e.shift_2();
  spec.bias_shift_1 = e.bias_1();
  spec.bias_shift_2 = e.bias_2();
  spec.table = gelu_table;
  spec.residual_bits = constants.residual_bits;
  spec.x_in = x_in;
  spec.x_mid = x_mid;
  spec.x_end = x_end;
  spec.u = norm_2.u;
  mlp = MlpPlan::declare(builder, std::move(spec));
}

}  // namespace tessera
