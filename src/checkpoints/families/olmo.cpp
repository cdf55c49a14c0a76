#include "checkpoints/families/reader.hpp"

namespace tessera {
namespace {

/// Norms behind the branches and none before, norms on all of q and of k.
void read_olmo_common(FamilyReader& reader) {
  reader.shape().layers.norm_place = NormPlace::after;
  reader.shape().head_norm = reader.shape().norm_across_heads = true;
  reader.place(gamma_o) = {"post_attention_layernorm.weight"};
  reader.place(gamma_m) = {"post_feedforward_layernorm.weight"};
  reader.sizes(true);
  reader.head_size();
  reader.context();
  reader.epsilon("rms_norm_eps", 1e-5);
  reader.tied(false);
  reader.activation("hidden_act");
  reader.fields().one_of("attention_bias", {false});
}

}  // namespace

FamilyModel read_olmo2(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "Olmo2ForCausalLM", context);
  read_olmo_common(reader);
  reader.rotation();
  return reader.finish();
}

FamilyModel read_olmo3(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "Olmo3ForCausalLM", context);
  read_olmo_common(reader);
  const std::vector<std::string> types = reader.layer_types([](std::size_t block) { return (block + 1) % 4 != 0; });
  reader.rotations_by_type(types, std::nullopt);
  reader.windows(types);
  return reader.finish();
}

}  // namespace tessera
