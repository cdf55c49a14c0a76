#include <algorithm>
#include "model/architecture_configs.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

using nlohmann::json;

constexpr std::string_view llama_ignored[] = {"attention_dropout", "is_llama_config",  "transformers.js_config",
                                              "unsloth_fixed",     "unsloth_version",  "hidden_dropout",
                                              "resid_pdrop",       "residual_dropout", "embd_pdrop",
                                              "mlp_dropout",       "bos_token",        "eos_token"};
constexpr std::size_t default_context = 2048;

constexpr LlamaMember members[] = {{"llama", "LlamaForCausalLM"},
                                   {"mistral", "MistralForCausalLM"},
                                   {"qwen2", "Qwen2ForCausalLM", true},
                                   {"qwen3", "Qwen3ForCausalLM", false, true}};

void read_sizes(const LlamaMember& member, ConfigFields& fields, ModelShape& shape) {
  shape.architecture = Architecture::llama;
  shape.n_layer = fields.size("num_hidden_layers", "n_layer");
  shape.n_embd = fields.size("hidden_size", "n_embd");
  shape.n_inner = fields.size("intermediate_size", "n_inner");
  shape.n_head = fields.size("num_attention_heads", "n_head");
  shape.n_vocab = fields.size("vocab_size", "n_vocab");
  // where they are absent the others' defaults are sizes of some model
  const bool plain = member.model_type == "llama";
  if (!plain || fields.has_value("num_key_value_heads")) {
    shape.n_kv_head = fields.size("num_key_value_heads", "n_kv_head");
  } else {
    shape.n_kv_head = fields.size("num_key_value_heads", "n_kv_head", shape.n_head);
  }
  if (shape.n_head % shape.n_kv_head != 0) {
    fields.refuse("num_key_value_heads", "a divisor of num_attention_heads = " + std::to_string(shape.n_head),
                  shape.n_kv_head);
  }
  if (member.head_norm || fields.has_value("head_dim")) {
    shape.head_dim = fields.size("head_dim", "head_dim");
  } else if (shape.n_embd % shape.n_head == 0) {
    shape.head_dim = fields.size("head_dim", "head_dim", shape.n_embd / shape.n_head);
  } else {
    fields.refuse("hidden_size", "a multiple of num_attention_heads = " + std::to_string(shape.n_head), shape.n_embd);
  }
  if (shape.head_dim % 2 != 0) {
    fields.refuse("head_dim", "an even number", shape.head_dim);
  }
  shape.tied = fields.one_of("tie_word_embeddings", {false, true}).get<bool>();
  shape.qkv_bias = member.qkv_bias;
  shape.head_norm = member.head_norm;
}

/// Scaling of rotary positions; `theta` where the object gives it itself.
Rope read_scaling(ConfigFields scaling, double theta) {
  Rope rope;
  rope.theta = scaling.positive("rope_theta", 1e15, theta);
  // the older name of the same field
  const char* name = scaling.has("rope_type") ? "rope_type" : "type";
  const auto type = scaling.one_of(name, {"default", "linear", "llama3"}).get<std::string>();
  scaling.one_of("type", {type});
  scaling.one_of("partial_rotary_factor", {1.0});
  rope.scaling = type == "llama3" ? RopeScaling::llama3 : type == "linear" ? RopeScaling::linear : RopeScaling::none;
  if (rope.scaling != RopeScaling::none) {
    rope.factor = scaling.positive("factor", 1e6);
  }
  if (rope.scaling == RopeScaling::llama3) {
    rope.low_frequency = scaling.positive("low_freq_factor", 1e6);
    rope.high_frequency = scaling.positive("high_freq_factor", 1e6);
    rope.original_positions = static_cast<double>(scaling.count("original_max_position_embeddings"));
    if (!(rope.low_frequency < rope.high_frequency)) {
      scaling.refuse("low_freq_factor", "less than high_freq_factor", rope.low_frequency);
    }
  }
  scaling.refuse_rest();
  return rope;
}

Rope read_rope(ConfigFields& fields) {
  Rope rope;
  rope.theta = fields.positive("rope_theta", 1e15, rope.theta);
  for (const char* name : {"rope_scaling", "rope_parameters"}) {  // the newer one holds theta as well
    const bool other = rope.scaling != RopeScaling::none;
    if (fields.has_value(name) && !fields.at(name).empty()) {
      if (other) {
        fields.refuse(name, "none beside rope_scaling", fields.at(name));
      }
      rope = read_scaling(fields.object(name), rope.theta);
    } else {
      fields.drop(name);
    }
  }
  fields.one_of("partial_rotary_factor", {1.0});
  fields.one_of("rope_interleaved", {false});
  fields.one_of("use_mrope", {false});
  return rope;
}

/// Attention to a window of the past is accepted where the window has room for the whole context.
void check_windows(const LlamaMember& member, ConfigFields& fields, const ModelShape& shape) {
  bool used = true;
  if (member.model_type.starts_with("qwen")) {
    used = fields.one_of("use_sliding_window", {false, true}).get<bool>();
    if (used && fields.has_value("max_window_layers")) {
      used = fields.count("max_window_layers") < shape.n_layer;  // the first ones see everything
    }
    fields.drop("max_window_layers");
  }
  if (fields.has_value("layer_types")) {
    const json types = fields.at("layer_types");
    const auto known = [](const json& type) { return type == "full_attention" || type == "sliding_attention"; };
    if (!types.is_array() || types.size() != shape.n_layer || !std::ranges::all_of(types, known)) {
      fields.refuse("layer_types", "full_attention or sliding_attention for every layer", types);
    }
    used = std::ranges::find(types, json("sliding_attention")) != types.end();
  }
  fields.drop("layer_types");
  if (used && fields.has_value("sliding_window")) {
    const std::size_t window = fields.count("sliding_window");
    if (window < shape.n_positions) {
      fields.refuse("sliding_window", "none, or at least the context of " + std::to_string(shape.n_positions), window);
    }
  }
  fields.drop("sliding_window");
}

}  // namespace

const LlamaMember& llama_member(std::string_view model_type) {
  return *std::ranges::find(members, model_type, &LlamaMember::model_type);
}

std::size_t read_context(ConfigFields& fields, const std::string& name, std::optional<std::size_t> chosen) {
  const std::size_t trained = fields.count(name);
  if (chosen && *chosen > trained) {
    fields.refuse(name, "at least the chosen context, " + std::to_string(*chosen), trained);
  }
  const std::size_t context = chosen.value_or(std::min(default_context, trained));
  check_limit("n_positions", context, "context");
  if (context < 2) {
    fields.refuse(name, "a context of at least 2", context);
  }
  return context;
}

CheckpointConfig read_llama_config(const std::string& model_type, ConfigFields& fields,
                                   std::optional<std::size_t> context) {
  const LlamaMember& member = llama_member(model_type);
  CheckpointConfig config;
  fields.one_of("architectures", {json::array({member.architecture}), nullptr});
  read_sizes(member, fields, config.shape);
  config.shape.n_positions = read_context(fields, "max_position_embeddings", context);
  config.layer_norm_epsilon = fields.positive("rms_norm_eps", 1, 1e-6);
  config.rope = read_rope(fields);
  const auto activation = fields.one_of("hidden_act", {"silu", "swish", "gelu_pytorch_tanh", "gelu_new"});
  config.activation = activation == "silu" || activation == "swish" ? "silu" : "gelu";
  check_windows(member, fields, config.shape);
  fields.one_of("attention_bias", {false});
  fields.one_of("mlp_bias", {false});
  fields.one_of("pretraining_tp", {1});
  fields.one_of("is_encoder_decoder", {false});
  fields.one_of("add_cross_attention", {false});
  for (const char* absent : {"quantization_config", "attn_logit_softcapping", "final_logit_softcapping"}) {
    fields.one_of(absent, {nullptr});
  }
  fields.one_of("pruned_heads", {json::object(), nullptr});
  fields.refuse_rest(llama_ignored);
  check_shape(config.shape);
  return config;
}

}  // namespace tessera
