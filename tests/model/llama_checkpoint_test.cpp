#include <map>

#include "checkpoint_fixture.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

/// Biases, tied.
class Qwen2Checkpoint : public CheckpointFixture {
 protected:
  Qwen2Checkpoint() : CheckpointFixture("odd-qwen2-50k") {}
};

/// Norms of the heads, a head of its own.
class Qwen3Checkpoint : public CheckpointFixture {
 protected:
  Qwen3Checkpoint() : CheckpointFixture("odd-qwen-60k") {}
};

/// The configuration alone.
class LlamaConfig : public testing::Test {
 protected:
  CheckpointConfig read(std::optional<std::size_t> context = {}) const {
    write_file(folder_.path() / "config.json", config_.dump());
    return read_checkpoint_config(folder_.path() / "config.json", context);
  }
  void expect_refused(const std::string& part, std::optional<std::size_t> context = {}) const {
    expect_input_error([&] { static_cast<void>(read(context)); }, part);
  }

  TemporaryFolder folder_;
  json config_ = {{"model_type", "llama"},       {"architectures", {"LlamaForCausalLM"}},
                  {"hidden_size", 2048},         {"intermediate_size", 8192},
                  {"num_hidden_layers", 16},     {"num_attention_heads", 32},
                  {"num_key_value_heads", 8},    {"max_position_embeddings", 131072},
                  {"vocab_size", 128256},        {"rms_norm_eps", 1e-5},
                  {"rope_theta", 500000},        {"hidden_act", "silu"},
                  {"tie_word_embeddings", true}, {"pretraining_tp", 1}};
};

TEST_F(Qwen2Checkpoint, has_what_its_files_say) {
  const FloatModel model = load();
  EXPECT_EQ(model.shape, (ModelShape{2, 40, 6, 100, 300, 64, rotary_layers, 3, 12, true, true, false}));
  EXPECT_EQ(model.layer_norm_epsilon, 1e-6);
  EXPECT_EQ(model.ropes.front().theta, 1e6);
  EXPECT_EQ(model.ropes.front().scaling, RopeScaling::none);
  EXPECT_EQ(model.activation, ActivationKind::silu);
  const SafetensorsFile file(model_folder("odd-qwen2-50k") / "model_f16.safetensors");
  const std::map<ParameterId, std::string> names = {{wq, "self_attn.q_proj.weight"},
                                                    {bv, "self_attn.v_proj.bias"},
                                                    {wo, "self_attn.o_proj.weight"},
                                                    {w_down, "mlp.down_proj.weight"}};
  for (const auto& [id, name] : names) {
    const std::vector<float> stored = file.read("model.layers.1." + name);
    const std::span<const float> held = model.parameters[id].values().last(stored.size());
    EXPECT_TRUE(std::ranges::equal(held, stored)) << name;
  }
}

TEST_F(Qwen2Checkpoint, frequencies_and_a_tied_head_are_ignored) {
  const FloatModel plain = load();
  for (const char* name : {"model.layers.0.self_attn.rotary_emb.inv_freq", "model.rotary_emb.inv_freq", "inv_freq",
                           "model.layers.1.self_attn.rotary_emb.cos_cached", "rotary_emb.sin_cached"}) {
    append(name, "F32", {6}, std::string(24, '\0'));
  }
  const std::size_t begin = header_["model.embed_tokens.weight"]["data_offsets"][0];
  append("lm_head.weight", "F16", {300, 40}, std::string(data_.substr(begin, 300 * 40 * 2)));
  EXPECT_EQ(load().parameters, plain.parameters);
  data_[data_.size() - 1] = static_cast<char>(data_.back() ^ 1);
  expect_refused("lm_head.weight: expected the values of model.embed_tokens.weight (tied)");
}

TEST_F(Qwen2Checkpoint, names_that_only_look_like_buffers_do_not_belong) {
  append("model.layers.0.self_attn.rotary_emb.inv_freq.weight", "F32", {6}, std::string(24, '\0'));
  expect_refused("inv_freq.weight\" does not belong");
}

TEST_F(Qwen2Checkpoint, missing_extra_and_misshaped_tensors) {
  const json entry = header_["model.layers.1.self_attn.k_proj.bias"];
  header_.erase("model.layers.1.self_attn.k_proj.bias");
  header_["model.layers.1.self_attn.k_proj.wait"] = entry;
  expect_refused("tensor model.layers.1.self_attn.k_proj.bias of shape [36] is missing");
  header_["model.layers.1.self_attn.k_proj.bias"] = entry;
  header_.erase("model.layers.1.self_attn.k_proj.wait");
  header_["model.layers.0.self_attn.o_proj.weight"]["shape"] = {72, 40};
  expect_refused("model.layers.0.self_attn.o_proj.weight.shape: expected [40,72], found [72,40]");
  header_["model.layers.0.self_attn.o_proj.weight"]["shape"] = {40, 72};
  append("model.layers.0.self_attn.o_proj.bias", "F16", {40}, std::string(80, '\0'));
  expect_refused("\"model.layers.0.self_attn.o_proj.bias\" does not belong");
}

TEST_F(Qwen3Checkpoint, has_norms_and_a_head) {
  const FloatModel model = load();
  EXPECT_EQ(model.shape, (ModelShape{2, 40, 6, 100, 300, 64, rotary_layers, 3, 12, false, false, true}));
  const SafetensorsFile file(model_folder("odd-qwen-60k") / "model_f16.safetensors");
  EXPECT_TRUE(std::ranges::equal(model.parameters[head].values(), file.read("lm_head.weight")));
  EXPECT_TRUE(std::ranges::equal(model.parameters[gamma_k].values().last(12),
                                 file.read("model.layers.1.self_attn.k_norm.weight")));
  header_.erase("lm_head.weight");
  expect_refused("");
}

TEST_F(LlamaConfig, context_is_chosen_or_2048) {
  EXPECT_EQ(read().shape.n_positions, 2048U);
  EXPECT_EQ(read(4096).shape.n_positions, 4096U);
  EXPECT_EQ(read(100).shape.n_positions, 100U);
  expect_refused("context: expected 1 to 4096, found 4097", 4097);
  expect_refused("at least 2", 1);
  config_["max_position_embeddings"] = 1024;
  EXPECT_EQ(read().shape.n_positions, 1024U);
  expect_refused("max_position_embeddings: expected at least the chosen context, 1025, found 1024", 1025);
  config_ = json::parse(file_bytes(model_folder("odd-40k") / "config.json"));
  EXPECT_EQ(read(48).shape.n_positions, 48U);
  expect_refused("n_positions: expected the chosen context, 32, found 48", 32);
}

TEST_F(LlamaConfig, sizes_that_others_give) {
  EXPECT_EQ(read().shape, (ModelShape{16, 2048, 32, 8192, 128256, 2048, rotary_layers, 8, 64, true, false, false}));
  config_.erase("num_key_value_heads");
  config_.erase("tie_word_embeddings");
  config_.erase("rope_theta");
  config_.erase("rms_norm_eps");
  config_["head_dim"] = 48;
  const CheckpointConfig config = read();
  EXPECT_EQ(config.shape.n_kv_head, 32U);
  EXPECT_EQ(config.shape.head_dim, 48U);
  EXPECT_FALSE(config.shape.tied);
  EXPECT_EQ(config.ropes.front().theta, 10000);
  EXPECT_EQ(config.layer_norm_epsilon, 1e-6);
  config_["hidden_act"] = "gelu_pytorch_tanh";
  EXPECT_EQ(read().activation, ActivationKind::gelu);
  config_["head_dim"] = nullptr;
  EXPECT_EQ(read().shape.head_dim, 64U);
}

TEST_F(LlamaConfig, scalings_of_rotary_positions) {
  const json llama3 = {{"rope_type", "llama3"},
                       {"factor", 32.0},
                       {"low_freq_factor", 1.0},
                       {"high_freq_factor", 4.0},
                       {"original_max_position_embeddings", 8192}};
  config_["rope_scaling"] = llama3;
  const Rope rope = read().ropes.front();
  EXPECT_EQ(rope.scaling, RopeScaling::llama3);
  EXPECT_EQ(rope.theta, 500000);
  EXPECT_EQ(rope.factor, 32);
  EXPECT_EQ(rope.low_frequency, 1);
  EXPECT_EQ(rope.high_frequency, 4);
  EXPECT_EQ(rope.original_positions, 8192);
  for (const auto& [field, value] : llama3.items()) {
    config_["rope_scaling"] = llama3;
    config_["rope_scaling"].erase(field);
    expect_refused(field == "rope_type" ? "factor" : "rope_scaling: " + field);
  }
  config_["rope_scaling"] = {{"type", "linear"}, {"factor", 4}};
  EXPECT_EQ(read().ropes.front().scaling, RopeScaling::linear);
  EXPECT_EQ(read().ropes.front().factor, 4);
  config_["rope_scaling"] = {{"rope_type", "default"}, {"type", "default"}};
  EXPECT_EQ(read().ropes.front().scaling, RopeScaling::none);
  config_["rope_scaling"] = {{"type", "dynamic"}, {"factor", 4}};
  expect_refused("rope_scaling: type");
  for (const char* type : {"yarn", "longrope"}) {
    config_["rope_scaling"] = {{"type", type}, {"factor", 4}};
    expect_refused("original_max_position_embeddings");
  }
  config_["rope_scaling"] = {{"type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 4096}};
  EXPECT_EQ(read().ropes.front().scaling, RopeScaling::yarn);
  config_["rope_scaling"]["beta_slow"] = 33;
  expect_refused("beta_slow");
  config_["rope_scaling"] = {{"type", "longrope"}, {"original_max_position_embeddings", 1}, {"factor", 4}};
  expect_refused("original_max_position_embeddings: expected at least 2, found 1");
  config_["rope_scaling"] = {{"type", "linear"}, {"factor", 4}, {"beta_fast", 32}};
  expect_refused("beta_fast");
  config_.erase("rope_scaling");
  config_["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 1e6}};
  EXPECT_EQ(read().ropes.front().theta, 1e6);
}

TEST_F(LlamaConfig, windows_are_not_llama_s) {
  config_["sliding_window"] = 2048;
  EXPECT_TRUE(read().shape.window_of_block.empty());
  config_["sliding_window"] = 2047;
  expect_refused("sliding_window: expected none, or at least the context of 2048, found 2047");
}

TEST_F(LlamaConfig, angles_by_kind_of_block_are_said_once) {
  config_["model_type"] = "olmo3";
  config_["architectures"] = {"Olmo3ForCausalLM"};
  config_["sliding_window"] = 512;
  const json linear = {{"rope_type", "linear"}, {"factor", 4}};
  config_["rope_scaling"] = linear;
  EXPECT_EQ(read().ropes.size(), 2U);
  config_["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 1e6}};
  expect_refused("rope_parameters: expected none beside rope_scaling");
  config_["rope_parameters"] = {{"full_attention", {{"rope_type", "default"}, {"rope_theta", 1e6}}},
                                {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 1e4}}}};
  expect_refused("rope_scaling");
  config_.erase("rope_scaling");
  EXPECT_EQ(read().ropes.size(), 2U);
}

TEST_F(LlamaConfig, windows_of_blocks) {
  config_["model_type"] = "mistral";
  config_["architectures"] = {"MistralForCausalLM"};
  for (const json& window : {json(nullptr), json(2048), json(4096)}) {
    config_["sliding_window"] = window;
    EXPECT_EQ(read().shape.n_positions, 2048U);
    EXPECT_TRUE(read().shape.window_of_block.empty());
  }
  expect_refused("", 4097);
  config_["sliding_window"] = 2047;
  EXPECT_EQ(read().shape.window_of_block, std::vector<std::uint32_t>(16, 2047));
  EXPECT_TRUE(read(2047).shape.window_of_block.empty());
  config_["layer_types"] = json::array();
  for (int layer = 0; layer < 16; ++layer) {
    config_["layer_types"].push_back("full_attention");
  }
  EXPECT_TRUE(read().shape.window_of_block.empty());
  config_["layer_types"][3] = "sliding_attention";
  std::vector<std::uint32_t> one(16);
  one[3] = 2047;
  EXPECT_EQ(read().shape.window_of_block, one);
  config_["layer_types"][3] = "linear_attention";
  expect_refused("layer_types");
  config_.erase("layer_types");
  config_["model_type"] = "qwen2";
  config_["architectures"] = {"Qwen2ForCausalLM"};
  config_["use_sliding_window"] = false;
  config_["max_window_layers"] = 4;
  EXPECT_TRUE(read().shape.window_of_block.empty());
  config_["use_sliding_window"] = true;
  std::vector<std::uint32_t> last(16, 2047);
  std::fill_n(last.begin(), 4, 0);
  EXPECT_EQ(read().shape.window_of_block, last);
  config_["max_window_layers"] = 16;
  EXPECT_TRUE(read().shape.window_of_block.empty());
}

TEST_F(LlamaConfig, unsupported_fields_by_name) {
  const std::map<std::string, std::vector<json>> unsupported = {
      {"model_type", {"mixtral", "qwen3_moe", "gpt_oss", nullptr}},
      {"architectures", {{"LlamaForSequenceClassification"}, {"MixtralForCausalLM"}}},
      {"attention_bias", {true}},
      {"mlp_bias", {true}},
      {"pretraining_tp", {2}},
      {"hidden_act", {"tanh", 3}},
      {"head_dim", {65, 0, 1024}},
      {"num_key_value_heads", {5, 0, "8"}},
      {"rope_theta", {0, -1, "10000"}},
      {"rms_norm_eps", {0, 2}},
      {"vocab_size", {0, nullptr}},
      {"hidden_size", {0, 2047, 1 << 20}},
      {"max_position_embeddings", {0, 1}},
      {"tie_word_embeddings", {1.5, "yes"}},
      {"partial_rotary_factor", {0.001, 2}},
      {"quantization_config", {json::object()}},
      {"attn_logit_softcapping", {50.0}},
      {"final_logit_softcapping", {30.0}},
      {"num_local_experts", {8}},
      {"num_experts", {64}},
      {"sliding_window", {0, "128"}},
      {"rope_scaling", {"linear", {{"type", "yarn"}}}},
      {"rope_interleaved", {true}},
      {"query_pre_attn_scalar", {256}}};
  const json good = config_;
  for (const auto& [field, values] : unsupported) {
    for (const json& value : values) {
      config_ = good;
      config_[field] = value;
      expect_refused(field);
    }
  }
  for (const char* field : {"hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
                            "vocab_size", "max_position_embeddings", "model_type"}) {
    config_ = good;
    config_.erase(field);
    expect_refused(field);
  }
}

}  // namespace
}  // namespace tessera::test
