#include "checkpoints/families/family.hpp"

namespace tessera {
namespace {

constexpr std::string_view gpt2_ignored[] = {"attn_pdrop",
                                             "embd_pdrop",
                                             "resid_pdrop",
                                             "summary_activation",
                                             "summary_first_dropout",
                                             "summary_proj_to_labels",
                                             "summary_type",
                                             "summary_use_proj"};

TensorNames gpt2_names() {
  constexpr bool in_out = true;
  const std::vector<ParameterId> weights{wq, wk, wv};
  const std::vector<ParameterId> biases{bq, bk, bv};
  TensorNames result;
  result.prefix = "transformer.";
  result.block = "h.";
  result.tied_head = "lm_head.weight";
  result.block_ignored = {"attn.bias", "attn.masked_bias"};  // buffers of older versions
  result.places = {{embedding, {"wte.weight"}},
                   {position, {"wpe.weight"}},
                   {wq, {"attn.c_attn.weight", in_out, weights}},
                   {wk, {"attn.c_attn.weight", in_out, weights}},
                   {wv, {"attn.c_attn.weight", in_out, weights}},
                   {wo, {"attn.c_proj.weight", in_out}},
                   {w1, {"mlp.c_fc.weight", in_out}},
                   {w2, {"mlp.c_proj.weight", in_out}},
                   {bq, {"attn.c_attn.bias", false, biases}},
                   {bk, {"attn.c_attn.bias", false, biases}},
                   {bv, {"attn.c_attn.bias", false, biases}},
                   {bo, {"attn.c_proj.bias"}},
                   {b1, {"mlp.c_fc.bias"}},
                   {b2, {"mlp.c_proj.bias"}},
                   {gamma1, {"ln_1.weight"}},
                   {beta1, {"ln_1.bias"}},
                   {gamma2, {"ln_2.weight"}},
                   {beta2, {"ln_2.bias"}},
                   {gammaf, {"ln_f.weight"}},
                   {betaf, {"ln_f.bias"}}};
  return result;
}

}  // namespace

FamilyModel read_gpt2(ConfigFields& fields, std::optional<std::size_t> context) {
  CheckpointConfig config;
  ModelShape& shape = config.shape;
  shape.n_layer = fields.size("n_layer", "n_layer");
  shape.n_embd = fields.size("n_embd", "n_embd");
  shape.n_head = fields.size("n_head", "n_head");
  shape.n_vocab = fields.size("vocab_size", "n_vocab");
  shape.n_positions = fields.size("n_positions", "n_positions");
  if (shape.n_positions < 2) {
    fields.refuse("n_positions", "at least 2", shape.n_positions);
  }
  if (context && *context != shape.n_positions) {
    fields.refuse("n_positions", "the chosen context, " + std::to_string(*context), shape.n_positions);
  }
  if (shape.n_embd % shape.n_head != 0) {
    fields.refuse("n_embd", "a multiple of n_head = " + std::to_string(shape.n_head), shape.n_embd);
  }
  shape.n_inner = fields.size("n_inner", "n_inner", 4 * shape.n_embd);
  config.layer_norm_epsilon = fields.positive("layer_norm_epsilon", 1, 1e-5);
  fields.one_of("n_ctx", {shape.n_positions});
  fields.one_of("activation_function", {"gelu_new", "gelu_pytorch_tanh"});
  fields.one_of("tie_word_embeddings", {true});
  fields.one_of("scale_attn_weights", {true});
  fields.one_of("scale_attn_by_inverse_layer_idx", {false});
  fields.one_of("reorder_and_upcast_attn", {false});
  fields.one_of("add_cross_attention", {false});
  fields.one_of("is_encoder_decoder", {false});
  fields.one_of("pruned_heads", {nlohmann::json::object(), nullptr});
  fields.refuse_rest(gpt2_ignored);
  return {config, gpt2_names()};
}

}  // namespace tessera
