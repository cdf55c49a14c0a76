#include "model/architecture_configs.hpp"

namespace tessera {
namespace {

using nlohmann::json;

constexpr std::string_view gpt2_ignored[] = {"attn_pdrop",
                                             "embd_pdrop",
                                             "resid_pdrop",
                                             "summary_activation",
                                             "summary_first_dropout",
                                             "summary_proj_to_labels",
                                             "summary_type",
                                             "summary_use_proj"};

}  // namespace

CheckpointConfig read_gpt2_config(ConfigFields& fields, std::optional<std::size_t> context) {
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
  fields.one_of("pruned_heads", {json::object(), nullptr});
  fields.refuse_rest(gpt2_ignored);
  return config;
}

}  // namespace tessera
