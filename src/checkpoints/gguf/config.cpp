#include "checkpoints/gguf/config.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/errors.hpp"
#include "checkpoints/families/reader.hpp"
#include "checkpoints/gguf/architectures.hpp"
#include "checkpoints/gguf/parts.hpp"
#include "checkpoints/gguf/rope_factors.hpp"
#include "checkpoints/rope.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

using nlohmann::json;

constexpr const char* rope_factors_name = "rope_freqs.weight";

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
  fields.drop(prefix + "rope.scaling.original_context_length");
  fields.drop(prefix + "rope.scaling.finetuned");
}

/// The factor of scores in place of 1/sqrt(m): 0 if there is none of its own.
double read_attention_scale(const std::string& prefix, ConfigFields& fields, std::size_t head_size) {
  const std::string key = prefix + "attention.scale";
  if (!fields.has_value(key) || fields.at(key) == 0) {
    fields.drop(key);
    return 0;
  }
  // in float32
  const double found = fields.positive(key, 1e6);
  const double usual = 1 / std::sqrt(static_cast<double>(head_size));
  return std::abs(found - usual) > 1e-6 * usual ? found : 0;
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

FamilyModel read_gpt2(ConfigFields& fields, const GgufFile& file, std::optional<std::size_t> context) {
  const std::string prefix = "gpt2.";
  FamilyModel model;
  CheckpointConfig& config = model.config;
  ModelShape& shape = config.shape;
  read_common_sizes(prefix, fields, file, shape);
  if (shape.n_embd % shape.n_head != 0) {
    fields.refuse(prefix + "embedding_length", "a multiple of head_count = " + std::to_string(shape.n_head),
                  shape.n_embd);
  }
  fields.one_of(prefix + "attention.head_count_kv", {shape.n_head});
  accept_neutral(prefix, fields);
  if (const double scale = read_attention_scale(prefix, fields, shape.n_embd / shape.n_head); scale != 0) {
    fields.refuse(prefix + "attention.scale", "none, 0 or 1 / sqrt(" + std::to_string(shape.head_size()) + ")", scale);
  }
  shape.n_positions = fields.size(prefix + "context_length", "n_positions");
  if (shape.n_positions < 2) {
    fields.refuse(prefix + "context_length", "at least 2", shape.n_positions);
  }
  if (context && *context != shape.n_positions) {
    fields.refuse(prefix + "context_length", "the chosen context, " + std::to_string(*context), shape.n_positions);
  }
  config.layer_norm_epsilon = fields.positive(prefix + "attention.layer_norm_epsilon", 1);
  model.names = gguf_names(shape);
  fuse_qkv(model.names);
  return model;
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
}

/// Reads the keys of one architecture with rotary positions.
class RotaryReader {
 public:
  RotaryReader(const GgufArchitecture& architecture, ConfigFields& fields, const GgufFile& file,
               std::optional<std::size_t> context)
      : kind_(architecture),
        prefix_(std::string(architecture.name) + "."),
        fields_(fields),
        file_(file),
        chosen_(context) {
    ModelShape& s = shape();
    s.layers = kind_.layers;
    s.qkv_bias = kind_.qkv_bias || file.contains("blk.0.attn_q.bias");
    s.head_norm = kind_.head_norm;
    s.norm_across_heads = kind_.across_heads;
    s.head_bias = kind_.head_bias;
    s.tied = !file.contains("output.weight");
    read_common_sizes(prefix_, fields_, file, s);
    read_heads(prefix_, fields_, s);
    s.n_positions = read_context(fields_, prefix_ + "context_length", context);
    model_.config.layer_norm_epsilon =
        fields_.positive(prefix_ + (s.rms() ? "attention.layer_norm_rms_epsilon" : "attention.layer_norm_epsilon"), 1);
    model_.config.activation = kind_.activation;
    model_.names = gguf_names(s);
  }

  FamilyModel read() && {
    if (kind_.name == "gptneox" && !fields_.one_of(prefix_ + "use_parallel_residual", {true, false}).get<bool>()) {
      shape().layers.branches = Branches::sequential;
    }
    read_windows();
    read_rotations();
    read_factors();
    read_caps();
    accept_neutral(prefix_, fields_);
    fields_.one_of(prefix_ + "tensor_data_layout", {"Meta AI original pth"});
    model_.names.interleaved = kind_.interleaved;
    if (kind_.fused_qkv || file_.contains("blk.0.attn_qkv.weight")) {
      fuse_qkv(model_.names);
    }
    if (kind_.fused_gate) {
      for (const ParameterId id : {w_gate, w_up}) {
        model_.names.places[id] = {"ffn_up.weight", false, {w_gate, w_up}};
      }
    }
    return std::move(model_);
  }

 private:
  [[nodiscard]] ModelShape& shape() { return model_.config.shape; }
  [[nodiscard]] std::string key(const char* name) const { return prefix_ + name; }

  Rope read_rope() {
    ModelShape& s = shape();
    Rope rope;
    rope.theta = fields_.positive(key("rope.freq_base"), 1e15, rope.theta);
    const json type = fields_.one_of(key("rope.scaling.type"), {"none", "linear", "yarn"});
    if (type == "linear") {
      rope.scaling = RopeScaling::linear;
      rope.factor = fields_.positive(key("rope.scaling.factor"), 1e6);
    }
    std::size_t turned = s.head_dim;
    if (fields_.has_value(key("rope.dimension_count"))) {
      turned = fields_.count(key("rope.dimension_count"));
      if (turned > s.head_dim || turned % 2 != 0) {
        fields_.refuse(key("rope.dimension_count"),
                       "an even number of a head's " + std::to_string(s.head_dim) + " places", turned);
      }
      if (turned < s.head_dim) {
        rope.turned = turned / 2;
        model_.names.turned = turned;
      }
    }
    if (type == "yarn") {
      read_yarn(rope, turned);
    }
    fields_.one_of(key("rope.scaling.factor"), {1.0});  // left: there is no scaling
    fields_.one_of(key("rope.scale_linear"), {1.0});
    if (file_.contains(rope_factors_name)) {
      if (rope.scaling != RopeScaling::none) {
        fields_.refuse(key("rope.scaling.type"), "none beside the tensor " + std::string(rope_factors_name), type);
      }
      rope = llama3_rope(rope.theta, s.head_size(), file_.read(rope_factors_name),
                         file_.name() + ": tensor " + rope_factors_name);
      model_.names.ignored.emplace_back(rope_factors_name);
    }
    return rope;
  }

  /// What yarn multiplies cosines and sines with is what transformers and llama.cpp agree about: 1 + 0.1*ln(factor).
  /// llama.cpp's converter writes a checkpoint's own factor as yarn_attn_factor, which llama.cpp does not take.
  void read_yarn(Rope& rope, std::size_t places) {
    rope.scaling = RopeScaling::yarn;
    rope.factor = fields_.positive(key("rope.scaling.factor"), 1e6);
    rope.original_positions = static_cast<double>(fields_.count(key("rope.scaling.original_context_length")));
    YarnTurns turns;
    turns.fast = fields_.positive(key("rope.scaling.yarn_beta_fast"), 1e6, turns.fast);
    turns.slow = fields_.positive(key("rope.scaling.yarn_beta_slow"), 1e6, turns.slow);
    if (turns.slow > turns.fast) {
      fields_.refuse(key("rope.scaling.yarn_beta_slow"), "no more than yarn_beta_fast", turns.slow);
    }
    fields_.one_of(key("rope.scaling.yarn_ext_factor"), {1.0});
    mix_by_turns(rope, turns, places);
    attention_ = yarn_attention(rope.factor);
    const std::string own = key("rope.scaling.yarn_attn_factor");
    const double said = fields_.positive(own, 1e6, attention_);
    if (std::abs(said - attention_) > 1e-6 * attention_) {  // float32
      fields_.refuse(own, "none or 1 + 0.1*ln(factor) = " + json(attention_).dump(), said);
    }
    if (attention_ != 1 && places < shape().head_size()) {
      fields_.refuse(
          key("rope.dimension_count"),
          "all " + std::to_string(shape().head_size()) + " places of a head where positions scale the scores", places);
    }
  }

  /// Factors of pairs, where there are some for short contexts, and for long ones.
  void read_listed(Rope& rope) {
    const std::string name = "rope_factors_short.weight";
    if (!file_.contains(name)) {
      fields_.one_of(key("rope.scaling.attn_factor"), {1.0});
      return;
    }
    if (rope.scaling != RopeScaling::none) {
      throw InputError(file_.name() + ": tensor " + name + ": expected none beside " + key("rope.scaling.type") +
                       ", found one");
    }
    const std::vector<float> factors = file_.read(name);
    const std::size_t pairs = std::min(rope.turned, shape().head_size() / 2);
    if (factors.size() != pairs) {
      throw InputError(file_.name() + ": tensor " + name + ": expected " + std::to_string(pairs) + " factors, found " +
                       std::to_string(factors.size()));
    }
    const std::size_t original = fields_.count(key("rope.scaling.original_context_length"));
    if (chosen_ && *chosen_ > original) {
      fields_.refuse(key("rope.scaling.original_context_length"),
                     "at least the chosen context, " + std::to_string(*chosen_), original);
    }
    shape().n_positions = std::min(shape().n_positions, original);
    rope.scaling = RopeScaling::listed;
    rope.pair_factors.assign(factors.begin(), factors.end());
    attention_ = fields_.positive(key("rope.scaling.attn_factor"), 1e6, 1);
    if (attention_ != 1 && rope.turned < shape().head_size() / 2) {
      fields_.refuse(key("rope.scaling.attn_factor"), "1 where a part of a head is turned", attention_);
    }
    model_.names.ignored.push_back(name);
    model_.names.ignored.emplace_back("rope_factors_long.weight");
  }

  void read_rotations() {
    Rope rope = read_rope();
    read_listed(rope);
    Rope still;
    still.turned = 0;
    Rope local;
    local.theta = fields_.positive(key("rope.freq_base_swa"), 1e15, kind_.name == "gemma3" ? 10000 : rope.theta);
    std::vector<double> factors;  // scores are products of two vectors that are multiplied with it
    for (std::size_t block = 0; block < shape().n_layer; ++block) {
      const bool still_block = kind_.name == "smollm3" && (block + 1) % 4 == 0;
      const bool other = still_block || (kind_.local_angles && sliding_[block]);
      factors.push_back(other ? 1 : attention_ * attention_);
      model_.config.turn(!other ? rope : still_block ? still : local);
    }
    model_.config.scale_scores(factors);
    model_.config.settle_rotations();
  }

  /// Which blocks have a window: as a list says or a number n (all but every n-th), else as those of the architecture.
  void read_windows() {
    const std::string name = key("attention.sliding_window"), pattern = name + "_pattern";
    const std::size_t blocks = shape().n_layer;
    sliding_.assign(blocks, false);
    if (fields_.has_value(name) && fields_.at(name) != 0) {
      const bool listed = fields_.has_value(pattern) && fields_.at(pattern).is_array();
      const std::size_t every = fields_.has_value(pattern) && !listed ? fields_.count(pattern) : kind_.unbounded;
      const json list = listed ? fields_.at(pattern) : json::array();
      if (listed && (list.size() != blocks || !std::ranges::all_of(list, &json::is_boolean))) {
        fields_.refuse(pattern, "true or false for each of " + std::to_string(blocks) + " blocks", list);
      }
      for (std::size_t block = 0; block < blocks; ++block) {
        sliding_[block] = listed ? list[block].get<bool>() : every == 0 || (block + 1) % every != 0;
      }
      set_windows(shape(), sliding_, fields_.count(name));
    }
    fields_.drop(pattern);
    fields_.drop(name);
  }

  void read_factors() {
    ModelShape& s = shape();
    ParameterFactors& factors = model_.config.factors;
    if (kind_.name.starts_with("gemma")) {
      const double factor = std::sqrt(static_cast<double>(s.n_embd));
      factors[embedding] = factor;
      factors[gammaf] = s.tied ? 1 / factor : 1;
    }
    if (kind_.name == "granite") {
      const auto scale = [&](const char* name) { return fields_.positive(key(name), 1e6, 1); };
      factors[embedding] = scale("embedding_scale");
      factors[wo] = factors[w_down] = scale("residual_scale");
      // as in folders
      factors[s.tied ? gammaf : head] = 1 / (scale("logit_scale") * (s.tied ? factors[embedding] : 1));
      for (const char* name : {"embedding_scale", "residual_scale", "logit_scale"}) {
        fields_.drop(key(name));
      }
    }
    double scale = read_attention_scale(prefix_, fields_, s.head_size());
    if (constexpr std::size_t blocks_of_27b = 46; scale == 0 && kind_.name == "gemma2" && s.n_layer == blocks_of_27b) {
      scale = 1 / std::sqrt(static_cast<double>(s.n_embd / s.n_head));  // which no key says
    }
    if (scale != 0) {
      model_.config.scale_scores(scale * std::sqrt(static_cast<double>(s.head_size())));
    }
  }

  void read_caps() {
    if (kind_.name != "gemma2") {
      return;
    }
    const auto cap = [this](const char* name, double absent) {
      const double found = fields_.positive(key(name), most_cap, absent);
      fields_.drop(key(name));
      return found;
    };
    model_.config.cap({cap("attn_logit_softcapping", 50), cap("final_logit_softcapping", 30)});
  }

  const GgufArchitecture& kind_;
  std::string prefix_;
  ConfigFields& fields_;
  const GgufFile& file_;
  std::optional<std::size_t> chosen_;
  FamilyModel model_;
  std::vector<bool> sliding_;
  double attention_ = 1;  // what cosines and sines are multiplied with
};

}  // namespace

std::string gguf_architecture(const GgufFile& file) {
  ConfigFields fields(file.metadata().values, file.name());
  if (!fields.has_value("general.architecture")) {
    fields.refuse("general.architecture", "a value", nullptr);
  }
  std::vector<json> names{"gpt2"};
  for (const GgufArchitecture& architecture : gguf_architectures()) {
    names.emplace_back(architecture.name);
  }
  return fields.one_of("general.architecture", names).get<std::string>();
}

FamilyModel read_gguf_family(const GgufFile& file, std::optional<std::size_t> context) {
  const std::string architecture = gguf_architecture(file);
  ConfigFields fields = fields_of(file, architecture);
  check_kind(fields);
  const auto known = std::ranges::find(gguf_architectures(), architecture, &GgufArchitecture::name);
  FamilyModel model =
      architecture == "gpt2" ? read_gpt2(fields, file, context) : RotaryReader(*known, fields, file, context).read();
  fields.refuse_rest();
  check_shape(model.config.shape);
  return model;
}

CheckpointConfig read_gguf_config(const GgufFile& file, std::optional<std::size_t> context) {
  return read_gguf_family(file, context).config;
}

}  // namespace tessera
