#include <bit>
#include <cmath>
#include <map>
#include "base/errors.hpp"

#include "checkpoint_fixture.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

class Checkpoint : public CheckpointFixture {};

TEST_F(Checkpoint, is_transposed_and_cut_into_queries_keys_values) {
  const FloatModel model = load();
  const std::size_t d = model.shape.n_embd;
  SafetensorsFile file(model_folder("odd-40k") / "model_f16.safetensors");
  const std::vector<float> attention = file.read("h.1.attn.c_attn.weight");
  const std::vector<float> down = file.read("h.1.mlp.c_proj.weight");
  for (std::size_t out = 0; out < d; ++out) {
    for (std::size_t in = 0; in < d; ++in) {
      ASSERT_EQ(model.parameters[wq].values()[(d + out) * d + in], attention[in * 3 * d + out]);
      ASSERT_EQ(model.parameters[wk].values()[(d + out) * d + in], attention[in * 3 * d + d + out]);
      ASSERT_EQ(model.parameters[wv].values()[(d + out) * d + in], attention[in * 3 * d + 2 * d + out]);
    }
    for (std::size_t in = 0; in < 4 * d; ++in) {
      ASSERT_EQ(model.parameters[w2].values()[(d + out) * 4 * d + in], down[in * d + out]);
    }
  }
  EXPECT_EQ(model.parameters[bv].values()[d], file.read("h.1.attn.c_attn.bias")[2 * d]);
  EXPECT_EQ(model.shape, (ModelShape{2, 36, 3, 144, 300, 48}));
}

TEST_F(Checkpoint, single_and_bfloat_agree_with_half) {
  const FloatModel half = load();
  convert_all("F32", 4, [](float value) { return value; });
  EXPECT_EQ(load().parameters, half.parameters);
  convert_all("BF16", 2,
              [](float value) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U); });
  const FloatModel brain = load();
  for (std::size_t i = 0; i < half.parameters[w1].values().size(); ++i) {
    ASSERT_NEAR(brain.parameters[w1].values()[i], half.parameters[w1].values()[i],
                std::abs(half.parameters[w1].values()[i]) / 128);
  }
}

TEST_F(Checkpoint, prefix_masks_and_tied_head_are_accepted) {
  const FloatModel plain = load();
  json prefixed = json::object();
  for (const auto& [name, entry] : header_.items()) {
    prefixed[name == "__metadata__" ? name : "transformer." + name] = entry;
  }
  header_ = prefixed;
  append("transformer.h.0.attn.bias", "BOOL", {1, 1, 48, 48}, std::string(48 * 48, '\1'));
  append("transformer.h.0.attn.masked_bias", "F16", json::array(), std::string(2, '\0'));
  const json& embedding = header_["transformer.wte.weight"];
  const std::size_t begin = embedding["data_offsets"][0];
  const std::string copy = data_.substr(begin, 300 * 36 * 2);
  append("lm_head.weight", "F16", {300, 36}, copy);
  EXPECT_EQ(load().parameters, plain.parameters);
  data_[data_.size() - 1] = static_cast<char>(data_.back() ^ 1);
  expect_refused("lm_head.weight");
}

TEST_F(Checkpoint, the_only_weights_file_is_found) {
  const FloatModel plain = load();
  std::filesystem::rename(folder_.path() / "model.safetensors", folder_.path() / "other.safetensors");
  EXPECT_EQ(load_checkpoint(folder_.path()).parameters, plain.parameters);
  std::filesystem::copy(folder_.path() / "other.safetensors", folder_.path() / "more.safetensors");
  expect_input_error([&] { load_checkpoint(folder_.path()); }, "found 2");
  expect_input_error([&] { load_checkpoint(folder_.path() / "nowhere"); }, "expected a folder");
}

TEST_F(Checkpoint, missing_extra_and_misshaped_tensors) {
  json entry = header_["h.1.mlp.c_fc.weight"];
  header_.erase("h.1.mlp.c_fc.weight");
  header_["h.1.mlp.c_fc.wait"] = entry;
  expect_refused("tensor h.1.mlp.c_fc.weight of shape [36,144] is missing");
  header_["h.1.mlp.c_fc.weight"] = entry;
  header_.erase("h.1.mlp.c_fc.wait");
  header_["h.1.mlp.c_fc.weight"]["shape"] = {144, 36};
  expect_refused("tensor h.1.mlp.c_fc.weight.shape: expected [36,144], found [144,36]");
  header_["h.1.mlp.c_fc.weight"]["shape"] = {36, 144};
  append("h.2.ln_1.weight", "F16", {36}, std::string(72, '\0'));
  expect_refused("\"h.2.ln_1.weight\" does not belong");
}

TEST_F(Checkpoint, a_name_with_and_without_prefix) {
  append("transformer.ln_f.weight", "F16", {36}, std::string(72, '\0'));
  expect_refused("with and without the prefix");
}

TEST_F(Checkpoint, other_dtypes) {
  header_["ln_f.weight"]["dtype"] = "I16";
  expect_refused("tensor ln_f.weight.dtype: expected F32, F16 or BF16, found I16");
  header_["ln_f.weight"]["dtype"] = "F8_E4M3";
  expect_refused("dtype: expected F32, F16 or BF16");
  header_["ln_f.weight"]["dtype"] = "F32";
  expect_refused("expected 144 bytes for dtype and shape, found 72");
}

TEST_F(Checkpoint, nan_and_infinity) {
  const std::size_t begin = header_["h.0.attn.c_proj.weight"]["data_offsets"][0];
  data_[begin + 2 * 7] = '\1';
  data_[begin + 2 * 7 + 1] = '\x7C';
  expect_refused("h.0.attn.c_proj.weight[7]: expected a finite number, found NaN");
  data_[begin + 2 * 7] = '\0';
  expect_refused("h.0.attn.c_proj.weight[7]: expected a finite number, found infinity");
}

TEST_F(Checkpoint, unsupported_configurations_by_name) {
  const std::map<std::string, std::vector<json>> unsupported = {{"model_type", {"gptj", nullptr}},
                                                                {"activation_function", {"gelu", "relu", 3}},
                                                                {"tie_word_embeddings", {false}},
                                                                {"scale_attn_weights", {false}},
                                                                {"scale_attn_by_inverse_layer_idx", {true}},
                                                                {"reorder_and_upcast_attn", {true}},
                                                                {"add_cross_attention", {true}},
                                                                {"pruned_heads", {{{"0", {1}}}}},
                                                                {"n_positions", {4097, 0, -1, 1.5, "48", nullptr}},
                                                                {"n_ctx", {47}},
                                                                {"n_head", {5, 0}},
                                                                {"n_layer", {0, 1e9}},
                                                                {"n_embd", {37, std::uint64_t{1} << 60U}},
                                                                {"n_inner", {0, "x"}},
                                                                {"vocab_size", {0, -300}},
                                                                {"layer_norm_epsilon", {0, -1e-5, "small", 2}},
                                                                {"rotary_dim", {64}},
                                                                {"quantization_config", {json::object()}}};
  const json good = config_;
  for (const auto& [field, values] : unsupported) {
    for (const json& value : values) {
      config_ = good;
      config_[field] = value;
      expect_refused(field == "n_head" || field == "n_embd" ? "n_" : field);
    }
  }
  for (const char* field : {"n_layer", "n_embd", "n_head", "n_positions", "vocab_size", "model_type"}) {
    config_ = good;
    config_.erase(field);
    expect_refused(field);
  }
}

TEST_F(Checkpoint, configuration_that_disagrees_with_the_tensors) {
  config_["n_layer"] = 3;
  expect_refused("h.2.attn.c_attn.weight of shape [36,108] is missing");
  config_["n_layer"] = 1;
  expect_refused("does not belong");
  config_["n_layer"] = 2;
  config_["vocab_size"] = 301;
  expect_refused("wte.weight.shape: expected [301,36], found [300,36]");
}

}  // namespace
}  // namespace tessera::test
