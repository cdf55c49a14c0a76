#include "model/gguf/config.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/errors.hpp"
#include "model/architecture_configs.hpp"
#include "model/gguf/parts.hpp"
#include "model/gguf/rope_factors.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

using nlohmann::json;

constexpr const char* rope_factors_name = "rope_freqs.weight";

/// GGUF's names of a folder's tensors.
struct NamePair {
  std::string_view folder, gguf;
};
constexpr NamePair names[] = {{"wte.weight", "token_embd.weight"},
                              {"wpe.weight", "position_embd.weight"},
                              {"attn.c_attn.weight", "attn_qkv.weight"},
                              {"attn.c_attn.bias", "attn_qkv.bias"},
                              {"attn.c_proj.weight", "attn_output.weight"},
                              {"attn.c_proj.bias", "attn_output.bias"},
                              {"mlp.c_fc.weight", "ffn_up.weight"},
                              {"mlp.c_fc.bias", "ffn_up.bias"},
                              {"mlp.c_proj.weight", "ffn_down.weight"},
                              {"mlp.c_proj.bias", "ffn_down.bias"},
                              {"ln_1.weight", "attn_norm.weight"},
                              {"ln_1.bias", "attn_norm.bias"},
                              {"ln_2.weight", "ffn_norm.weight"},
                              {"ln_2.bias", "ffn_norm.bias"},
                              {"ln_f.weight", "output_norm.weight"},
                              {"ln_f.bias", "output_norm.bias"},
                              {"model.embed_tokens.weight", "token_embd.weight"},
                              {"self_attn.q_proj.weight", "attn_q.weight"},
                              {"self_attn.k_proj.weight", "attn_k.weight"},
                              {"self_attn.v_proj.weight", "attn_v.weight"},
                              {"self_attn.o_proj.weight", "attn_output.weight"},
                              {"mlp.gate_proj.weight", "ffn_gate.weight"},
                              {"mlp.up_proj.weight", "ffn_up.weight"},
                              {"mlp.down_proj.weight", "ffn_down.weight"},
                              {"self_attn.q_proj.bias", "attn_q.bias"},
                              {"self_attn.k_proj.bias", "attn_k.bias"},
                              {"self_attn.v_proj.bias", "attn_v.bias"},
                              {"self_attn.q_norm.weight", "attn_q_norm.weight"},
                              {"self_attn.k_norm.weight", "attn_k_norm.weight"},
                              {"input_layernorm.weight", "attn_norm.weight"},
                              {"post_attention_layernorm.weight", "ffn_norm.weight"},
                              {"model.norm.weight", "output_norm.weight"},
                              {"lm_head.weight", "output.weight"}};

/// Every tensor of parameter_table() is in the list.
std::string gguf_name(std::string_view folder) {
  return std::string(std::ranges::find(names, folder, &NamePair::folder)->gguf);
}

/// The keys that say what is computed.
ConfigFields fields_of(const GgufFile& file, const std::string& architecture) {
  json fields = json::object();
  for (const auto& [key, value] : file.metadata().values.items()) {
    const std::string head = key.substr(0, key.find('.'));
    if (head == architecture || head == "split" || key == "general.type" || key == "general.quantization_version") {
      fields[key] = value;
    }
  }
  return {std::move(fields), file.name()};
}

void check_kind(ConfigFields& fields) {
  fields.one_of("general.type", {"model"});
  fields.one_of("general.quantization_version", {2});
  for (const char* key : {split_count, split_number, split_tensors}) {
    fields.drop(key);
  }
}

/// Keys of other members of the families, at the values that change nothing: writers put them in every file.
void accept_neutral(const std::string& prefix, ConfigFields& fields) {
  for (const char* key :
       {"attention.clamp_kqv", "attention.max_alibi_bias", "attention.shared_kv_layers", "attn_logit_softcapping",
        "final_logit_softcapping", "expert_count", "expert_used_count", "expert_shared_count", "expert_group_count",
        "expert_group_used_count", "expert_feed_forward_length", "expert_shared_feed_forward_length",
        "interleave_moe_layer_step", "leading_dense_block_count", "nextn_predict_layers", "pooling_type",
        "rope.scaling.yarn_log_multiplier"}) {
    fields.one_of(prefix + key, {0});
  }
  for (const char* key : {"embedding_scale", "residual_scale", "logit_scale", "expert_weights_scale"}) {
    fields.one_of(prefix + key, {1, 0});  // 0 says that there is none
  }
  fields.one_of(prefix + "attention.causal", {true});
  fields.one_of(prefix + "use_parallel_residual", {false});
}

/// The factor of scores: none, or that of the head size in float32.
void read_attention_scale(const std::string& prefix, ConfigFields& fields, std::size_t head_size) {
  const std::string key = prefix + "attention.scale";
  if (!fields.has_value(key) || fields.at(key) == 0) {
    fields.drop(key);
    return;
  }
  const double found = fields.positive(key, 1e6), expected = 1 / std::sqrt(static_cast<double>(head_size));
  if (std::abs(found - expected) > 1e-6 * expected) {
    fields.refuse(key, "none, 0 or 1 / sqrt(" + std::to_string(head_size) + ")", found);
  }
}

void read_common_sizes(const std::string& prefix, ConfigFields& fields, const GgufFile& file, ModelShape& shape) {
  shape.n_layer = fields.size(prefix + "block_count", "n_layer");
  shape.n_embd = fields.size(prefix + "embedding_length", "n_embd");
  shape.n_inner = fields.size(prefix + "feed_forward_length", "n_inner");
  shape.n_head = fields.size(prefix + "attention.head_count", "n_head");
  const std::string embedding_name = "token_embd.weight";
  if (!file.contains(embedding_name)) {
    throw InputError(file.name() + ": tensor " + embedding_name + " is missing");
  }
  shape.n_vocab = file.entry(embedding_name).extents.front();
  check_limit("n_vocab", shape.n_vocab, file.name() + ": tensor " + embedding_name + ": rows");
  fields.one_of(prefix + "vocab_size", {shape.n_vocab});
}

CheckpointConfig read_gpt2(ConfigFields& fields, const GgufFile& file, std::optional<std::size_t> context) {
  const std::string prefix = "gpt2.";
  CheckpointConfig config;
  ModelShape& shape = config.shape;
  read_common_sizes(prefix, fields, file, shape);
  if (shape.n_embd % shape.n_head != 0) {
    fields.refuse(prefix + "embedding_length", "a multiple of head_count = " + std::to_string(shape.n_head),
                  shape.n_embd);
  }
  fields.one_of(prefix + "attention.head_count_kv", {shape.n_head});
  accept_neutral(prefix, fields);
  read_attention_scale(prefix, fields, shape.n_embd / shape.n_head);
  shape.n_positions = fields.size(prefix + "context_length", "n_positions");
  if (shape.n_positions < 2) {
    fields.refuse(prefix + "context_length", "at least 2", shape.n_positions);
  }
  if (context && *context != shape.n_positions) {
    fields.refuse(prefix + "context_length", "the chosen context, " + std::to_string(*context), shape.n_positions);
  }
  config.layer_norm_epsilon = fields.positive(prefix + "attention.layer_norm_epsilon", 1);
  return config;
}

void read_heads(const std::string& prefix, ConfigFields& fields, ModelShape& shape) {
  const std::string key_heads = prefix + "attention.head_count_kv", key_length = prefix + "attention.key_length";
  shape.n_kv_head = fields.size(key_heads, "n_kv_head", shape.n_head);
  if (shape.n_head % shape.n_kv_head != 0) {
    fields.refuse(key_heads, "a divisor of head_count = " + std::to_string(shape.n_head), shape.n_kv_head);
  }
  if (!fields.has_value(key_length) && shape.n_embd % shape.n_head != 0) {
    fields.refuse(prefix + "embedding_length", "a multiple of head_count = " + std::to_string(shape.n_head),
                  shape.n_embd);
  }
  shape.head_dim = fields.size(key_length, "head_dim", shape.n_embd / shape.n_head);
  if (shape.head_dim % 2 != 0) {
    fields.refuse(key_length, "an even number", shape.head_dim);
  }
  fields.one_of(prefix + "attention.value_length", {shape.head_dim});
  fields.one_of(prefix + "rope.dimension_count", {shape.head_dim});
}

Rope read_rope(const std::string& prefix, ConfigFields& fields, const GgufFile& file, std::size_t head_size) {
  Rope rope;
  rope.theta = fields.positive(prefix + "rope.freq_base", 1e15, rope.theta);
  const json type = fields.one_of(prefix + "rope.scaling.type", {"none", "linear"});
  if (type == "linear") {
    rope.scaling = RopeScaling::linear;
    rope.factor = fields.positive(prefix + "rope.scaling.factor", 1e6);
  }
  fields.one_of(prefix + "rope.scaling.factor", {1.0});  // left: there is no scaling
  fields.one_of(prefix + "rope.scaling.attn_factor", {1.0});
  fields.one_of(prefix + "rope.scale_linear", {1.0});
  fields.drop(prefix + "rope.scaling.original_context_length");
  fields.drop(prefix + "rope.scaling.finetuned");
  if (file.contains(rope_factors_name)) {
    if (rope.scaling != RopeScaling::none) {
      fields.refuse(prefix + "rope.scaling.type", "none beside the tensor " + std::string(rope_factors_name), type);
    }
    rope =
        llama3_rope(rope.theta, head_size, file.read(rope_factors_name), file.name() + ": tensor " + rope_factors_name);
  }
  return rope;
}

CheckpointConfig read_llama(const std::string& architecture, ConfigFields& fields, const GgufFile& file,
                            std::optional<std::size_t> context) {
  const std::string prefix = architecture + ".";
  CheckpointConfig config;
  ModelShape& shape = config.shape;
  shape.architecture = Architecture::llama;
  read_common_sizes(prefix, fields, file, shape);
  read_heads(prefix, fields, shape);
  const LlamaMember& member = llama_member(architecture);
  shape.qkv_bias = member.qkv_bias;
  shape.head_norm = member.head_norm;
  shape.tied = !file.contains("output.weight");
  shape.n_positions = read_context(fields, prefix + "context_length", context);
  config.layer_norm_epsilon = fields.positive(prefix + "attention.layer_norm_rms_epsilon", 1);
  config.rope = read_rope(prefix, fields, file, shape.head_size());
  config.activation = "silu";
  const std::string window = prefix + "attention.sliding_window";
  if (fields.has_value(window) && fields.at(window) != 0 && fields.count(window) < shape.n_positions) {
    fields.refuse(window, "none, 0, or at least the context of " + std::to_string(shape.n_positions),
                  file.metadata().values.at(window));
  }
  fields.drop(window);
  fields.drop(window + "_pattern");  // which blocks have a window that cuts nothing
  accept_neutral(prefix, fields);
  read_attention_scale(prefix, fields, shape.head_size());
  fields.one_of(prefix + "tensor_data_layout", {"Meta AI original pth"});
  return config;
}

}  // namespace

std::string gguf_architecture(const GgufFile& file) {
  ConfigFields fields(file.metadata().values, file.name());
  if (!fields.has_value("general.architecture")) {
    fields.refuse("general.architecture", "a value", nullptr);
  }
  return fields.one_of("general.architecture", {"gpt2", "llama", "qwen2", "qwen3"}).get<std::string>();
}

CheckpointConfig read_gguf_config(const GgufFile& file, std::optional<std::size_t> context) {
  const std::string architecture = gguf_architecture(file);
  ConfigFields fields = fields_of(file, architecture);
  check_kind(fields);
  CheckpointConfig config =
      architecture == "gpt2" ? read_gpt2(fields, file, context) : read_llama(architecture, fields, file, context);
  fields.refuse_rest();
  check_shape(config.shape);
  return config;
}

TensorNaming gguf_naming(const GgufFile& file) {
  const std::string architecture = gguf_architecture(file);
  TensorNaming naming;
  naming.block = "blk.";
  naming.ignored = {rope_factors_name};
  naming.name = gguf_name;
  naming.transposed = false;
  naming.interleaved = architecture == "llama";
  if (architecture == "gpt2") {
    naming.ignored.clear();
  }
  return naming;
}

}  // namespace tessera
