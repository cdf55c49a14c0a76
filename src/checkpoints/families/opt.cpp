#include "checkpoints/families/family.hpp"

namespace tessera {
namespace {

constexpr std::string_view opt_ignored[] = {"activation_dropout", "attention_dropout", "dropout",
                                            "layerdrop",          "init_std",          "_remove_final_layer_norm"};

/// Positions are numbered from 2 on.
TensorNames opt_names() {
  TensorNames result;
  result.prefix = "model.";
  result.block = "decoder.layers.";
  result.tied_head = "lm_head.weight";
  result.places = {{embedding, {"decoder.embed_tokens.weight"}},
                   {position, {"decoder.embed_positions.weight", false, {}, false, 2}},
                   {wq, {"self_attn.q_proj.weight"}},
                   {wk, {"self_attn.k_proj.weight"}},
                   {wv, {"self_attn.v_proj.weight"}},
                   {wo, {"self_attn.out_proj.weight"}},
                   {w1, {"fc1.weight"}},
                   {w2, {"fc2.weight"}},
                   {bq, {"self_attn.q_proj.bias"}},
                   {bk, {"self_attn.k_proj.bias"}},
                   {bv, {"self_attn.v_proj.bias"}},
                   {bo, {"self_attn.out_proj.bias"}},
                   {b1, {"fc1.bias"}},
                   {b2, {"fc2.bias"}},
                   {gamma1, {"self_attn_layer_norm.weight"}},
                   {beta1, {"self_attn_layer_norm.bias"}},
                   {gamma2, {"final_layer_norm.weight"}},
                   {beta2, {"final_layer_norm.bias"}},
                   {gammaf, {"decoder.final_layer_norm.weight"}},
                   {betaf, {"decoder.final_layer_norm.bias"}}};
  return result;
}

}  // namespace

FamilyModel read_opt(ConfigFields& fields, std::optional<std::size_t> context) {
  CheckpointConfig config;
  ModelShape& shape = config.shape;
  fields.one_of("architectures", {nlohmann::json::array({"OPTForCausalLM"}), nullptr});
  shape.n_layer = fields.size("num_hidden_layers", "n_layer");
  shape.n_embd = fields.size("hidden_size", "n_embd");
  shape.n_head = fields.size("num_attention_heads", "n_head");
  shape.n_inner = fields.size("ffn_dim", "n_inner");
  shape.n_vocab = fields.size("vocab_size", "n_vocab");
  shape.n_positions = fields.size("max_position_embeddings", "n_positions");
  if (context && *context != shape.n_positions) {
    fields.refuse("max_position_embeddings", "the chosen context, " + std::to_string(*context), shape.n_positions);
  }
  if (shape.n_embd % shape.n_head != 0) {
    fields.refuse("hidden_size", "a multiple of num_attention_heads = " + std::to_string(shape.n_head), shape.n_embd);
  }
  config.activation = ActivationKind::relu;
  fields.one_of("activation_function", {"relu"});
  fields.one_of("word_embed_proj_dim", {shape.n_embd});
  fields.one_of("do_layer_norm_before", {true});
  fields.one_of("enable_bias", {true});
  fields.one_of("layer_norm_elementwise_affine", {true});
  fields.one_of("tie_word_embeddings", {true});
  fields.refuse_rest(opt_ignored);
  return {config, opt_names()};
}

}  // namespace tessera
