#include "checkpoints/families/reader.hpp"

namespace tessera {

/// Llama with fused projections.
FamilyModel read_phi3(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "Phi3ForCausalLM", context);
  reader.sizes(true);
  reader.head_size();
  reader.context();
  reader.epsilon("rms_norm_eps", 1e-5);
  reader.tied(false);
  reader.activation("hidden_act");
  fields.one_of("attention_bias", {false});
  reader.rotation();
  fields.drop("original_max_position_embeddings");  // positions that are scaled say it themselves
  reader.windows(reader.layer_types([](std::size_t) { return true; }));
  for (const ParameterId id : {wq, wk, wv}) {
    reader.place(id) = {"self_attn.qkv_proj.weight", false, {wq, wk, wv}};
  }
  for (const ParameterId id : {w_gate, w_up}) {
    reader.place(id) = {"mlp.gate_up_proj.weight", false, {w_gate, w_up}};
  }
  return reader.finish();
}

}  // namespace tessera
