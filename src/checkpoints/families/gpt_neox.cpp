#include "checkpoints/families/reader.hpp"

namespace tessera {
namespace {

constexpr std::string_view neox_ignored[] = {"classifier_dropout", "rotary_emb_base"};

void name_neox_tensors(TensorNames& names) {
  names.block = "gpt_neox.layers.";
  names.tied_head = "embed_out.weight";
  names.block_ignored = {"attention.bias", "attention.masked_bias", "attention.rotary_emb.inv_freq"};
  names.places = {{embedding, {"gpt_neox.embed_in.weight"}},
                  {wo, {"attention.dense.weight"}},
                  {bo, {"attention.dense.bias"}},
                  {gamma1, {"input_layernorm.weight"}},
                  {beta1, {"input_layernorm.bias"}},
                  {gamma2, {"post_attention_layernorm.weight"}},
                  {beta2, {"post_attention_layernorm.bias"}},
                  {gammaf, {"gpt_neox.final_layer_norm.weight"}},
                  {betaf, {"gpt_neox.final_layer_norm.bias"}},
                  {head, {"embed_out.weight"}}};
  constexpr bool by_head = true;
  for (const ParameterId id : {wq, wk, wv}) {
    names.places[id] = {"attention.query_key_value.weight", false, {wq, wk, wv}, by_head};
  }
  for (const ParameterId id : {bq, bk, bv}) {
    names.places[id] = {"attention.query_key_value.bias", false, {bq, bk, bv}, by_head};
  }
  name_plain_mlp(names, "mlp.dense_h_to_4h", "mlp.dense_4h_to_h");
}

}  // namespace

/// Two layer norms of the same x before two branches; a part of each head is turned.
FamilyModel read_gpt_neox(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "GPTNeoXForCausalLM", context);
  ModelShape& shape = reader.shape();
  const bool parallel = fields.boolean("use_parallel_residual", true);
  shape.layers = {Positions::rotary, NormKind::layer,
                  NormPlace::before, parallel ? Branches::parallel : Branches::sequential,
                  MlpKind::plain,    true};
  shape.qkv_bias = true;
  reader.sizes(true);
  reader.head_size();
  reader.context();
  reader.epsilon("layer_norm_eps", 1e-5);
  reader.tied(false);
  reader.activation("hidden_act");
  fields.one_of("attention_bias", {true});
  const double part = fields.positive("rotary_pct", 1.0000001, 0.25);  // the older names of the same fields
  fields.provide("partial_rotary_factor", part);
  if (fields.has_value("rotary_emb_base")) {
    fields.provide("rope_theta", fields.at("rotary_emb_base"));
  }
  reader.rotation();
  name_neox_tensors(reader.names());
  return reader.finish(neox_ignored);
}

}  // namespace tessera
