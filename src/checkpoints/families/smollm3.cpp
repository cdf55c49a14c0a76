#include "checkpoints/families/reader.hpp"

namespace tessera {

/// Llama without rotation in some blocks.
FamilyModel read_smollm3(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "SmolLM3ForCausalLM", context);
  reader.sizes();
  reader.head_size();
  reader.context();
  reader.epsilon("rms_norm_eps", 1e-6);
  reader.tied(true);
  reader.activation("hidden_act");
  fields.one_of("attention_bias", {false});
  fields.one_of("mlp_bias", {false});
  const std::size_t blocks = reader.shape().n_layer;
  const std::size_t interval =
      fields.has_value("no_rope_layer_interval") ? fields.count("no_rope_layer_interval") : std::size_t{4};
  fields.drop("no_rope_layer_interval");
  std::vector<bool> turned;
  if (fields.has_value("no_rope_layers")) {
    const nlohmann::json found = fields.at("no_rope_layers");
    if (!found.is_array() || found.size() != blocks) {
      fields.refuse("no_rope_layers", "0 or 1 for every layer", found);
    }
    for (const nlohmann::json& value : found) {
      turned.push_back(value != 0);
    }
  } else {
    for (std::size_t block = 0; block < blocks; ++block) {
      turned.push_back((block + 1) % interval != 0);
    }
  }
  fields.drop("no_rope_layers");
  reader.rotation(turned);
  const bool used = fields.boolean("use_sliding_window", false);
  const std::vector<std::string> types = reader.layer_types([&](std::size_t block) { return used && turned[block]; });
  reader.windows(types);
  return reader.finish();
}

}  // namespace tessera
