#include "checkpoints/families/reader.hpp"

#include <cmath>

namespace tessera {
namespace {

/// Gains are stored less 1, and the embedding is multiplied with sqrt(d), which a tied head is not.
void read_gemma_common(FamilyReader& reader) {
  reader.sizes();
  reader.head_size(true);
  reader.context();
  reader.epsilon("rms_norm_eps", 1e-6);
  reader.tied(true);
  // the older field says another GELU than the model was trained with
  ConfigFields& fields = reader.fields();
  fields.one_of("hidden_activation", {"gelu_pytorch_tanh", nullptr});
  fields.one_of("hidden_act", {"gelu_pytorch_tanh", "gelu", "gelu_new"});
  reader.config().activation = ActivationKind::gelu;
  fields.one_of("attention_bias", {false});
  const double factor = std::sqrt(static_cast<double>(reader.shape().n_embd));
  reader.config().factors[embedding] = factor;
  reader.config().factors[gammaf] = reader.shape().tied ? 1 / factor : 1;
  for (const ParameterId id : {gamma1, gamma2, gamma_o, gamma_m, gamma_q, gamma_k, gammaf}) {
    reader.place(id).less_one = true;
  }
}

/// Norms behind the branches, too.
void read_norms_around(FamilyReader& reader) {
  reader.shape().layers.norm_place = NormPlace::around;
  reader.place(gamma_o) = {"post_attention_layernorm.weight"};
  reader.place(gamma2) = {"pre_feedforward_layernorm.weight"};
  reader.place(gamma_m) = {"post_feedforward_layernorm.weight"};
  read_gemma_common(reader);
  reader.score_factor(1 / std::sqrt(reader.fields().positive("query_pre_attn_scalar", 1e9, 256)));
}

}  // namespace

FamilyModel read_gemma(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "GemmaForCausalLM", context);
  read_gemma_common(reader);
  reader.rotation();
  fields.one_of("use_bidirectional_attention", {nullptr, false});
  return reader.finish();
}

/// Norms around the branches, soft caps, a window in every second block.
FamilyModel read_gemma2(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "Gemma2ForCausalLM", context);
  read_norms_around(reader);
  reader.rotation();
  if (fields.has_value("sliding_window")) {
    fields.one_of("sliding_window_size", {fields.at("sliding_window")});  // the same under another name
  }
  reader.windows(reader.layer_types([](std::size_t block) { return block % 2 == 0; }));
  reader.caps({50, 30});
  fields.one_of("use_bidirectional_attention", {nullptr, false});
  return reader.finish();
}

/// Norms around the branches and on q and k; blocks with a window turn by other angles than those without.
FamilyModel read_gemma3(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "Gemma3ForCausalLM", context);
  reader.shape().head_norm = true;
  read_norms_around(reader);
  std::size_t pattern = 6;
  for (const char* name : {"sliding_window_pattern", "_sliding_window_pattern"}) {
    pattern = fields.has_value(name) ? fields.count(name) : pattern;
    fields.drop(name);
  }
  const std::vector<std::string> types =
      reader.layer_types([pattern](std::size_t block) { return (block + 1) % pattern != 0; });
  Rope local;
  local.theta = fields.positive("rope_local_base_freq", 1e15, 10000);
  fields.provide("rope_theta", 1e6);
  reader.rotations_by_type(types, local);
  reader.windows(types);
  fields.one_of("use_bidirectional_attention", {false, nullptr});
  return reader.finish();
}

}  // namespace tessera
