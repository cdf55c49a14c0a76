#include "checkpoints/families/reader.hpp"

namespace tessera {

/// Layer norms, biases, grouped heads, a plain MLP.
FamilyModel read_starcoder2(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "Starcoder2ForCausalLM", context);
  ModelShape& shape = reader.shape();
  shape.layers = {Positions::rotary, NormKind::layer, NormPlace::before, Branches::sequential, MlpKind::plain, true};
  shape.qkv_bias = true;
  reader.sizes();
  reader.head_size();
  reader.context();
  reader.epsilon("norm_epsilon", 1e-5);
  reader.tied(true);
  reader.activation("hidden_act");
  fields.one_of("use_bias", {true});
  fields.one_of("attention_bias", {false, true});
  fields.one_of("mlp_type", {"default"});
  reader.rotation();
  reader.windows(reader.layer_types([](std::size_t) { return true; }));
  name_plain_mlp(reader.names(), "mlp.c_fc", "mlp.c_proj");
  constexpr std::string_view ignored[] = {"norm_type"};
  return reader.finish(ignored);
}

}  // namespace tessera
