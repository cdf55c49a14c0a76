#include "checkpoints/families/reader.hpp"

#include <algorithm>
#include <cmath>

#include "checkpoints/rope.hpp"
#include "plan/limits.hpp"

namespace tessera {
namespace {

constexpr std::size_t default_context = 2048;
constexpr std::string_view ignored_everywhere[] = {"attention_dropout",   "hidden_dropout",
                                                   "hidden_dropout_prob", "resid_pdrop",
                                                   "residual_dropout",    "embd_pdrop",
                                                   "mlp_dropout",         "bos_token",
                                                   "eos_token",           "is_llama_config",
                                                   "unsloth_fixed",       "unsloth_version",
                                                   "embedding_dropout",   "transformers.js_config"};

ActivationKind activation_of(const std::string& name) {
  if (name == "silu" || name == "swish") {
    return ActivationKind::silu;
  }
  if (name == "relu") {
    return ActivationKind::relu;
  }
  return name == "gelu" ? ActivationKind::erf_gelu : ActivationKind::gelu;
}

}  // namespace

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

void set_windows(ModelShape& shape, const std::vector<bool>& sliding, std::size_t window) {
  shape.window_of_block.clear();
  if (window >= shape.n_positions || std::ranges::find(sliding, true) == sliding.end()) {
    return;
  }
  for (const bool slides : sliding) {
    shape.window_of_block.push_back(slides ? static_cast<std::uint32_t>(window) : 0);
  }
}

TensorNames llama_names() {
  TensorNames names;
  names.block = "model.layers.";
  names.tied_head = "lm_head.weight";
  names.places = {{embedding, {"model.embed_tokens.weight"}},
                  {wq, {"self_attn.q_proj.weight"}},
                  {wk, {"self_attn.k_proj.weight"}},
                  {wv, {"self_attn.v_proj.weight"}},
                  {wo, {"self_attn.o_proj.weight"}},
                  {w_gate, {"mlp.gate_proj.weight"}},
                  {w_up, {"mlp.up_proj.weight"}},
                  {w_down, {"mlp.down_proj.weight"}},
                  {bq, {"self_attn.q_proj.bias"}},
                  {bk, {"self_attn.k_proj.bias"}},
                  {bv, {"self_attn.v_proj.bias"}},
                  {bo, {"self_attn.o_proj.bias"}},
                  {gamma_q, {"self_attn.q_norm.weight"}},
                  {gamma_k, {"self_attn.k_norm.weight"}},
                  {gamma1, {"input_layernorm.weight"}},
                  {beta1, {"input_layernorm.bias"}},
                  {gamma2, {"post_attention_layernorm.weight"}},
                  {beta2, {"post_attention_layernorm.bias"}},
                  {gammaf, {"model.norm.weight"}},
                  {betaf, {"model.norm.bias"}},
                  {head, {"lm_head.weight"}},
                  {head_bias, {"lm_head.bias"}}};
  return names;
}

void name_plain_mlp(TensorNames& names, const std::string& first, const std::string& second) {
  names.places[w1] = {first + ".weight"};
  names.places[b1] = {first + ".bias"};
  names.places[w2] = {second + ".weight"};
  names.places[b2] = {second + ".bias"};
}

FamilyReader::FamilyReader(ConfigFields& fields, std::string_view architecture, std::optional<std::size_t> context)
    : fields_(fields), chosen_(context) {
  fields_.one_of("architectures", {nlohmann::json::array({architecture}), nullptr});
  shape().layers = rotary_layers;
  shape().qkv_bias = false;
  names() = llama_names();
}

void FamilyReader::sizes(bool every_head) {
  ModelShape& s = shape();
  s.n_layer = fields_.size("num_hidden_layers", "n_layer");
  s.n_embd = fields_.size("hidden_size", "n_embd");
  s.n_inner = fields_.size("intermediate_size", "n_inner");
  s.n_head = fields_.size("num_attention_heads", "n_head");
  s.n_vocab = fields_.size("vocab_size", "n_vocab");
  const char* const key_heads = "num_key_value_heads";
  if (every_head && !fields_.has_value(key_heads)) {
    fields_.drop(key_heads);
    s.n_kv_head = s.n_head;
  } else {
    s.n_kv_head = fields_.size(key_heads, "n_kv_head");
  }
  if (s.n_head % s.n_kv_head != 0) {
    fields_.refuse(key_heads, "a divisor of num_attention_heads = " + std::to_string(s.n_head), s.n_kv_head);
  }
}

void FamilyReader::head_size(bool required) {
  ModelShape& s = shape();
  if (required || fields_.has_value("head_dim")) {
    s.head_dim = fields_.size("head_dim", "head_dim");
  } else if (s.n_embd % s.n_head == 0) {
    s.head_dim = fields_.size("head_dim", "head_dim", s.n_embd / s.n_head);
  } else {
    fields_.refuse("hidden_size", "a multiple of num_attention_heads = " + std::to_string(s.n_head), s.n_embd);
  }
  if (s.head_dim % 2 != 0) {
    fields_.refuse("head_dim", "an even number", s.head_dim);
  }
}

void FamilyReader::context() {
  trained_ =
      fields_.has_value("max_position_embeddings") ? fields_.at("max_position_embeddings").get<std::size_t>() : 0;
  shape().n_positions = read_context(fields_, "max_position_embeddings", chosen_);
}

void FamilyReader::epsilon(const std::string& name, double absent) {
  config().layer_norm_epsilon = fields_.positive(name, 1, absent);
}

void FamilyReader::tied(bool absent) {
  shape().tied = fields_.one_of("tie_word_embeddings", {absent, !absent}).get<bool>();
}

void FamilyReader::activation(const std::string& name) {
  config().activation = activation_of(
      fields_.one_of(name, {"silu", "swish", "gelu_pytorch_tanh", "gelu_new", "gelu", "relu"}).get<std::string>());
}

void FamilyReader::read_yarn(ConfigFields& from, ScaledRope& scaled, std::size_t places) {
  Rope& rope = scaled.rope;
  rope.original_positions = static_cast<double>(from.count("original_max_position_embeddings"));
  rope.factor =
      from.has_value("factor") ? from.positive("factor", 1e6) : static_cast<double>(trained_) / rope.original_positions;
  from.drop("factor");
  YarnTurns turns;
  turns.fast = from.positive("beta_fast", 1e6, turns.fast);
  turns.slow = from.positive("beta_slow", 1e6, turns.slow);
  if (turns.slow > turns.fast) {
    from.refuse("beta_slow", "no more than beta_fast", turns.slow);
  }
  turns.whole = from.one_of("truncate", {true, false}).get<bool>();
  mix_by_turns(rope, turns, places);
  double attention = yarn_attention(rope.factor);
  if (from.has_value("mscale") && from.has_value("mscale_all_dim") && from.at("mscale") != 0 &&
      from.at("mscale_all_dim") != 0) {
    attention = yarn_attention(rope.factor, from.positive("mscale", 1e6)) /
                yarn_attention(rope.factor, from.positive("mscale_all_dim", 1e6));
  }
  from.drop("mscale"), from.drop("mscale_all_dim");
  scaled.attention = from.has_value("attention_factor") ? from.positive("attention_factor", 1e6) : attention;
  from.drop("attention_factor");
}

/// The short factors hold for contexts up to the original one; the long ones beyond it are not taken: a text that grows
/// past it would change all angles.
void FamilyReader::read_longrope(ConfigFields& from, ScaledRope& scaled) {
  const char* const original = "original_max_position_embeddings";
  std::size_t positions = 0;
  if (from.has_value(original)) {
    positions = from.count(original);
    fields_.drop(original);
  } else {
    positions = fields_.count(original);
  }
  if (positions < 2) {
    from.refuse(original, "at least 2", positions);
  }
  if (shape().n_positions > positions) {
    if (chosen_) {
      from.refuse(original, "at least the chosen context, " + std::to_string(*chosen_), positions);
    }
    shape().n_positions = positions;
  }
  scaled.rope.pair_factors = from.positive_numbers("short_factor", 1e6);
  from.drop("long_factor");
  const double factor = from.has_value("factor") ? from.positive("factor", 1e6)
                                                 : static_cast<double>(trained_) / static_cast<double>(positions);
  from.drop("factor");
  const double attention = factor <= 1 ? 1 : std::sqrt(1 + std::log(factor) / std::log(static_cast<double>(positions)));
  scaled.attention = from.has_value("attention_factor") ? from.positive("attention_factor", 1e6) : attention;
  from.drop("attention_factor");
}

ScaledRope FamilyReader::read_rope(ConfigFields from, double theta) {
  ScaledRope scaled;
  Rope& rope = scaled.rope;
  rope.theta = from.positive("rope_theta", 1e15, theta);
  // the older name of the same field
  const char* name = from.has("rope_type") ? "rope_type" : "type";
  const auto type = from.one_of(name, {"default", "linear", "llama3", "yarn", "longrope", "su"}).get<std::string>();
  from.one_of("type", {type});
  const double part = from.positive("partial_rotary_factor", 1.0000001, 1);
  const auto places = static_cast<std::size_t>(static_cast<double>(shape().head_size()) * part);
  if (places % 2 != 0 || places == 0) {
    from.refuse("partial_rotary_factor", "an even number of places of a head", part);
  }
  if (places < shape().head_size()) {
    rope.turned = places / 2;
  }
  if (type == "linear" || type == "llama3") {
    rope.scaling = type == "linear" ? RopeScaling::linear : RopeScaling::llama3;
    rope.factor = from.positive("factor", 1e6);
  }
  if (type == "llama3") {
    rope.low_frequency = from.positive("low_freq_factor", 1e6);
    rope.high_frequency = from.positive("high_freq_factor", 1e6);
    rope.original_positions = static_cast<double>(from.count("original_max_position_embeddings"));
    if (!(rope.low_frequency < rope.high_frequency)) {
      from.refuse("low_freq_factor", "less than high_freq_factor", rope.low_frequency);
    }
  } else if (type == "yarn") {
    rope.scaling = RopeScaling::yarn;
    read_yarn(from, scaled, places);
  } else if (type == "longrope" || type == "su") {
    rope.scaling = RopeScaling::listed;
    read_longrope(from, scaled);
    if (rope.pair_factors.size() != places / 2) {
      from.refuse("short_factor", std::to_string(places / 2) + " numbers", rope.pair_factors.size());
    }
  }
  if (scaled.attention != 1 && places < shape().head_size()) {
    from.refuse("partial_rotary_factor", "1 where positions scale the scores", part);
  }
  from.refuse_rest();
  return scaled;
}

void FamilyReader::turn(const std::vector<ScaledRope>& by_block) {
  std::vector<double> factors;
  for (const ScaledRope& scaled : by_block) {
    config().turn(scaled.rope);
    factors.push_back(scaled.attention * scaled.attention);  // scores are products of two vectors that it scales
  }
  config().settle_rotations();
  config().scale_scores(factors);
  const std::size_t turned =
      std::ranges::max(by_block, {}, [](const ScaledRope& scaled) { return scaled.rope.turned; }).rope.turned;
  names().turned = turned < shape().head_size() / 2 ? 2 * turned : 0;
}

ScaledRope FamilyReader::read_plain_rope(double theta) {
  const double part = fields_.positive("partial_rotary_factor", 1.0000001, 1);
  std::optional<ScaledRope> found;
  for (const char* name : {"rope_scaling", "rope_parameters"}) {  // the newer one holds theta as well
    if (!fields_.has_value(name) || fields_.at(name).empty()) {
      fields_.drop(name);
      continue;
    }
    if (found && found->rope.scaling != RopeScaling::none) {
      fields_.refuse(name, "none beside rope_scaling", fields_.at(name));
    }
    ConfigFields from = fields_.object(name);
    from.provide("partial_rotary_factor", part);
    found = read_rope(std::move(from), theta);
  }
  if (!found) {
    ConfigFields plain(nlohmann::json{{"partial_rotary_factor", part}}, "config.json");
    found = read_rope(std::move(plain), theta);
  }
  return *found;
}

void FamilyReader::rotation(const std::vector<bool>& turned) {
  const ScaledRope rope = read_plain_rope(fields_.positive("rope_theta", 1e15, 10000));
  fields_.one_of("rope_interleaved", {false});
  fields_.one_of("use_mrope", {false});
  Rope still;
  still.turned = 0;
  std::vector<ScaledRope> by_block;
  for (std::size_t block = 0; block < shape().n_layer; ++block) {
    by_block.push_back(turned.empty() || turned[block] ? rope : ScaledRope{still, 1});
  }
  turn(by_block);
}

void FamilyReader::rotations_by_type(const std::vector<std::string>& types, const std::optional<Rope>& local) {
  const double theta = fields_.positive("rope_theta", 1e15, 10000);
  const bool nested = fields_.has_value("rope_parameters") && fields_.at("rope_parameters").contains(types.front());
  std::map<std::string, ScaledRope> by_type;
  if (nested) {
    ConfigFields parameters = fields_.object("rope_parameters");
    for (const std::string& type : {std::string("full_attention"), std::string("sliding_attention")}) {
      if (parameters.has_value(type)) {
        by_type[type] = read_rope(parameters.object(type), theta);
      } else {
        parameters.drop(type);
      }
    }
    parameters.refuse_rest();
    fields_.one_of("rope_scaling", {nullptr});
  } else {
    Rope plain;
    plain.theta = theta;
    by_type["full_attention"] = read_plain_rope(theta);
    by_type["sliding_attention"] = {local.value_or(plain), 1};
  }
  std::vector<ScaledRope> by_block;
  for (const std::string& type : types) {
    if (!by_type.contains(type)) {
      fields_.refuse("rope_parameters", "those of " + type, nullptr);
    }
    by_block.push_back(by_type[type]);
  }
  turn(by_block);
}

std::vector<std::string> FamilyReader::layer_types(const std::function<bool(std::size_t)>& sliding_if_absent) {
  std::vector<std::string> result;
  if (fields_.has_value("layer_types")) {
    const nlohmann::json types = fields_.at("layer_types");
    const auto known = [](const nlohmann::json& type) {
      return type == "full_attention" || type == "sliding_attention";
    };
    if (!types.is_array() || types.size() != shape().n_layer || !std::ranges::all_of(types, known)) {
      fields_.refuse("layer_types", "full_attention or sliding_attention for every layer", types);
    }
    for (const nlohmann::json& type : types) {
      result.push_back(type.get<std::string>());
    }
  } else {
    for (std::size_t block = 0; block < shape().n_layer; ++block) {
      result.emplace_back(sliding_if_absent(block) ? "sliding_attention" : "full_attention");
    }
  }
  fields_.drop("layer_types");
  return result;
}

void FamilyReader::windows(const std::vector<std::string>& types) {
  std::vector<bool> sliding;
  for (const std::string& type : types) {
    sliding.push_back(type == "sliding_attention");
  }
  const bool used = std::ranges::find(sliding, true) != sliding.end();
  if (used && fields_.has_value("sliding_window")) {
    set_windows(shape(), sliding, fields_.count("sliding_window"));
  }
  fields_.drop("sliding_window");
}

void FamilyReader::score_factor(double factor) {
  config().scale_scores(factor * std::sqrt(static_cast<double>(shape().head_size())));
}

void FamilyReader::caps(const SoftCaps& absent) {
  const auto read = [this](const char* name, double otherwise) {
    const bool null = fields_.has(name) && !fields_.has_value(name);
    const double cap = null ? 0 : fields_.positive(name, most_cap, otherwise);
    fields_.drop(name);
    return cap;
  };
  config().cap({read("attn_logit_softcapping", absent.scores), read("final_logit_softcapping", absent.logits)});
}

FamilyModel FamilyReader::finish(std::span<const std::string_view> ignored) {
  for (const char* absent : {"quantization_config", "attn_logit_softcapping", "final_logit_softcapping"}) {
    fields_.one_of(absent, {nullptr});
  }
  fields_.one_of("pretraining_tp", {1});
  fields_.one_of("is_encoder_decoder", {false});
  fields_.one_of("add_cross_attention", {false});
  fields_.one_of("pruned_heads", {nlohmann::json::object(), nullptr});
  std::vector<std::string_view> all(std::begin(ignored_everywhere), std::end(ignored_everywhere));
  all.insert(all.end(), ignored.begin(), ignored.end());
  fields_.refuse_rest(all);
  check_shape(shape());
  return std::move(model_);
}

}  // namespace tessera
