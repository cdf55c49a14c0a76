#include "checkpoints/families/reader.hpp"

namespace tessera {

/// Llama with layer norms; a part of each head is turned.
FamilyModel read_stablelm(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "StableLmForCausalLM", context);
  ModelShape& shape = reader.shape();
  shape.layers.norm = NormKind::layer;
  shape.qkv_bias = fields.boolean("use_qkv_bias", false);
  reader.sizes(true);
  reader.head_size();
  reader.context();
  reader.epsilon("layer_norm_eps", 1e-5);
  reader.tied(false);
  reader.activation("hidden_act");
  fields.one_of("qk_layernorm", {false});
  fields.one_of("use_parallel_residual", {false});
  fields.provide("partial_rotary_factor", fields.positive("rope_pct", 1.0000001, 0.25));
  reader.rotation();
  return reader.finish();
}

}  // namespace tessera
