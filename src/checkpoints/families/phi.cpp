#include "checkpoints/families/reader.hpp"

namespace tessera {

/// One layer norm before two branches that read the same, biases everywhere, also of the logits; a part of each head is
/// turned.
FamilyModel read_phi(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "PhiForCausalLM", context);
  ModelShape& shape = reader.shape();
  shape.layers = {Positions::rotary, NormKind::layer, NormPlace::before, Branches::shared_norm, MlpKind::plain, true};
  shape.qkv_bias = shape.head_bias = true;
  reader.sizes(true);
  reader.head_size();
  reader.context();
  reader.epsilon("layer_norm_eps", 1e-5);
  reader.tied(false);
  reader.activation("hidden_act");
  reader.fields().provide("partial_rotary_factor", 0.5);
  reader.rotation();
  fields.one_of("qk_layernorm", {false});
  name_plain_mlp(reader.names(), "mlp.fc1", "mlp.fc2");
  reader.place(wo) = {"self_attn.dense.weight"};
  reader.place(bo) = {"self_attn.dense.bias"};
  reader.place(gammaf) = {"model.final_layernorm.weight"};
  reader.place(betaf) = {"model.final_layernorm.bias"};
  return reader.finish();
}

}  // namespace tessera
