#include "checkpoints/families/reader.hpp"

#include <algorithm>

namespace tessera {
namespace {

constexpr const char* activation_field = "hidden_act";

/// What Llama, Mistral and Qwen have in common.
void read_llama_common(FamilyReader& reader) {
  reader.context();
  reader.epsilon("rms_norm_eps", 1e-6);
  reader.tied(false);
  reader.activation(activation_field);
  reader.fields().one_of("mlp_bias", {false});
}

/// From max_window_layers on, where they are used.
void read_qwen_windows(FamilyReader& reader) {
  ConfigFields& fields = reader.fields();
  const bool used = fields.one_of("use_sliding_window", {false, true}).get<bool>();
  const std::size_t all = reader.shape().n_layer;
  const std::size_t first =
      fields.has_value("max_window_layers") ? fields.at("max_window_layers").get<std::size_t>() : all;
  fields.drop("max_window_layers");  // the first ones see everything
  const std::vector<std::string> types = reader.layer_types([&](std::size_t block) { return used && block >= first; });
  if (used) {
    reader.windows(types);
  } else {
    fields.drop("sliding_window");
  }
}

void read_unbiased(FamilyReader& reader, bool every_head) {
  reader.sizes(every_head);
  reader.head_size();
  read_llama_common(reader);
  reader.fields().one_of("attention_bias", {false});
  reader.rotation();
  reader.windows(reader.layer_types([](std::size_t) { return true; }));
}

}  // namespace

/// Llama's reference has no windows: a configuration that says a shorter one than the context may mean either.
FamilyModel read_llama(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "LlamaForCausalLM", context);
  read_unbiased(reader, true);
  if (const std::vector<std::uint32_t>& windows = reader.shape().window_of_block; !windows.empty()) {
    fields.refuse("sliding_window", "none, or at least the context of " + std::to_string(reader.shape().n_positions),
                  std::ranges::max(windows));
  }
  return reader.finish();
}

FamilyModel read_mistral(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "MistralForCausalLM", context);
  read_unbiased(reader, false);
  return reader.finish();
}

FamilyModel read_qwen2(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "Qwen2ForCausalLM", context);
  reader.shape().qkv_bias = true;
  reader.sizes();
  reader.head_size();
  read_llama_common(reader);
  reader.rotation();
  read_qwen_windows(reader);
  fields.one_of("attention_bias", {false});
  return reader.finish();
}

FamilyModel read_qwen3(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "Qwen3ForCausalLM", context);
  reader.shape().head_norm = true;
  reader.sizes();
  reader.head_size(true);
  read_llama_common(reader);
  reader.rotation();
  read_qwen_windows(reader);
  fields.one_of("attention_bias", {false});
  return reader.finish();
}

}  // namespace tessera
