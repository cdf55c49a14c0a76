#include "checkpoints/families/reader.hpp"

namespace tessera {

/// Llama with four constants, which parameters take in.
FamilyModel read_granite(ConfigFields& fields, std::optional<std::size_t> context) {
  FamilyReader reader(fields, "GraniteForCausalLM", context);
  reader.sizes(true);
  reader.head_size();
  reader.context();
  reader.epsilon("rms_norm_eps", 1e-6);
  reader.tied(false);
  reader.activation("hidden_act");
  fields.one_of("attention_bias", {false});
  fields.one_of("mlp_bias", {false});
  reader.rotation();
  const double embedded = fields.positive("embedding_multiplier", 1e6, 1);
  const double residual = fields.positive("residual_multiplier", 1e6, 1);
  const double logits = fields.positive("logits_scaling", 1e6, 1);
  ParameterFactors& factors = reader.config().factors;
  reader.score_factor(fields.positive("attention_multiplier", 1e6, 1));
  factors[embedding] = embedded;
  factors[wo] = factors[w_down] = residual;
  // a tied head is the embedding with its factor; gains before a head of its own are powers of two, so it has the
  // factor
  factors[reader.shape().tied ? gammaf : head] = 1 / (logits * (reader.shape().tied ? embedded : 1));
  return reader.finish();
}

}  // namespace tessera
