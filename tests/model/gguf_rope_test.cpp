// Scaled rotary positions of GGUF files, against those of folders.

#include <gtest/gtest.h>

#include <cmath>

#include "checkpoints/checkpoint.hpp"
#include "checkpoints/gguf/config.hpp"

#include "gguf_builder.hpp"
#include "model_files.hpp"

namespace tessera::test {
namespace {

using nlohmann::json;

/// Configurations of a small model of an architecture, heads of 20 places.
class GgufRope : public testing::Test {
 protected:
  /// Numbers of rope.scaling, as float32; a count of positions beside them.
  using Scaling = std::map<std::string, float>;

  [[nodiscard]] CheckpointConfig file(const Scaling& scaling, std::uint32_t original = 64,
                                      const std::string& type = "yarn") const {
    const std::string prefix = architecture_ + ".";
    GgufBuilder builder;
    builder.add_text("general.architecture", architecture_);
    for (const auto& [name, value] : std::map<std::string, std::uint32_t>{{"block_count", 4},
                                                                          {"context_length", 256},
                                                                          {"embedding_length", 80},
                                                                          {"feed_forward_length", 176},
                                                                          {"attention.head_count", 4},
                                                                          {"attention.head_count_kv", 2},
                                                                          {"rope.dimension_count", turned_}}) {
      builder.add_number(prefix + name, value);
    }
    builder.add_key(prefix + "attention.layer_norm_rms_epsilon", 6, GgufBuilder::bytes_of(1e-5F));
    builder.add_key(prefix + "rope.freq_base", 6, GgufBuilder::bytes_of(5e5F));
    builder.add_text(prefix + "rope.scaling.type", type);
    if (original != 0) {
      builder.add_number(prefix + "rope.scaling.original_context_length", original);
    }
    for (const auto& [name, value] : scaling) {
      builder.add_key(prefix + "rope.scaling." + name, 6, GgufBuilder::bytes_of(value));
    }
    if (window_ != 0) {
      builder.add_number(prefix + "attention.sliding_window", window_);
    }
    builder.add_tensor({"token_embd.weight", {80, 8}, 0, std::string(std::size_t{80} * 8 * 4, '\0')});
    builder.add_tensor({"output.weight", {80, 8}, 0, std::string(std::size_t{80} * 8 * 4, '\0')});
    for (const std::string& tensor : tensors_) {
      builder.add_tensor({tensor, {10}, 0, std::string(40, '\0')});
    }
    const std::filesystem::path path = folder_.path() / "x.gguf";
    write_file(path, builder.build());
    return read_gguf_config(GgufFile(path));
  }
  /// What each block's scores are multiplied with, of the file that was read last; empty: all with the parameter's.
  [[nodiscard]] std::vector<double> factors_of_blocks() const {
    const ParameterFactors factors = read_gguf_config(GgufFile(folder_.path() / "x.gguf")).factors;
    return factors.blocks[architecture_ == "olmo2" ? gamma_q : wq];
  }
  [[nodiscard]] CheckpointConfig folder(const json& scaling) const {
    json config = {{"model_type", "llama"},  {"hidden_size", 80},        {"intermediate_size", 176},
                   {"num_hidden_layers", 4}, {"num_attention_heads", 4}, {"num_key_value_heads", 2},
                   {"vocab_size", 8},        {"rms_norm_eps", 1e-5},     {"max_position_embeddings", 256},
                   {"hidden_act", "silu"},   {"rope_theta", 500000},     {"tie_word_embeddings", false},
                   {"rope_scaling", scaling}};
    write_file(folder_.path() / "config.json", config.dump());
    return read_checkpoint_config(folder_.path() / "config.json");
  }
  void expect_refused(const Scaling& scaling, const std::string& part, std::uint32_t original = 64,
                      const std::string& type = "yarn") const {
    expect_input_error([&] { (void)file(scaling, original, type); }, architecture_ + "." + part);
  }
  static void expect_equal(const CheckpointConfig& found, const CheckpointConfig& expected) {
    EXPECT_EQ(found.ropes, expected.ropes);
    EXPECT_EQ(found.factors.values, expected.factors.values);
    EXPECT_EQ(found.factors.blocks, expected.factors.blocks);
    EXPECT_EQ(found.shape, expected.shape);
  }

  std::string architecture_ = "llama";
  std::uint32_t turned_ = 20, window_ = 0;
  std::vector<std::string> tensors_;
  TemporaryFolder folder_;
};

TEST_F(GgufRope, yarn_is_the_folder_s) {
  const json yarn = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 64}};
  const CheckpointConfig plain = file({{"factor", 4.0F}});
  EXPECT_EQ(plain.ropes.front().scaling, RopeScaling::yarn);
  EXPECT_DOUBLE_EQ(plain.factors[wq], std::pow(1 + 0.1 * std::log(4.0), 2));
  expect_equal(plain, folder(yarn));
  expect_equal(
      file({{"factor", 4.0F}, {"attn_factor", 1.0F}, {"yarn_ext_factor", 1.0F}, {"yarn_log_multiplier", 0.0F}}),
      folder(yarn));
  // numbers that float32 does not have, and turns of their own
  for (const auto& [factor, fast, slow, original] :
       {std::tuple{2.3, 16.0, 2.5, 128U}, {40.0, 32.0, 1.0, 4096U}, {1.0, 8.5, 0.1, 1000U}, {8.0, 3.0, 3.0, 200U}}) {
    SCOPED_TRACE(factor);
    json there = yarn;
    there["factor"] = factor;
    there["beta_fast"] = fast;
    there["beta_slow"] = slow;
    there["original_max_position_embeddings"] = original;
    expect_equal(file({{"factor", static_cast<float>(factor)},
                       {"yarn_beta_fast", static_cast<float>(fast)},
                       {"yarn_beta_slow", static_cast<float>(slow)}},
                      original),
                 folder(there));
  }
}

/// What llama.cpp's converter writes of attention_factor is another model in llama.cpp, unless it is the usual one.
TEST_F(GgufRope, factors_of_attention_are_yarn_s_own) {
  const auto usual = static_cast<float>(1 + 0.1 * std::log(4.0));
  expect_equal(file({{"factor", 4.0F}, {"yarn_attn_factor", usual}}), file({{"factor", 4.0F}}));
  for (const float other : {1.0F, 1.25F, usual * usual}) {
    expect_refused({{"factor", 4.0F}, {"yarn_attn_factor", other}},
                   "rope.scaling.yarn_attn_factor: expected none or 1 + 0.1*ln(factor) = 1.138629436111989, found ");
  }
  expect_refused({{"factor", 4.0F}, {"attn_factor", 1.25F}}, "rope.scaling.attn_factor: expected one of [1.0]");
}

TEST_F(GgufRope, other_yarn_is_refused_by_name) {
  expect_refused({}, "rope.scaling.factor: expected a value, found none");
  expect_refused({{"factor", 0.0F}}, "rope.scaling.factor: expected a number between 0 and");
  expect_refused({{"factor", 4.0F}}, "rope.scaling.original_context_length: expected a value, found none", 0);
  expect_refused({{"factor", 4.0F}, {"yarn_ext_factor", 0.5F}},
                 "rope.scaling.yarn_ext_factor: expected one of [1.0], found 0.5");
  expect_refused({{"factor", 4.0F}, {"yarn_log_multiplier", 0.1F}},
                 "rope.scaling.yarn_log_multiplier: expected one of [0], found 0.1");
  expect_refused({{"factor", 4.0F}, {"yarn_beta_slow", 33.0F}},
                 "rope.scaling.yarn_beta_slow: expected no more than yarn_beta_fast, found 33");
  expect_refused({{"factor", 4.0F}, {"yarn_beta_fast", -1.0F}},
                 "rope.scaling.yarn_beta_fast: expected a number between 0 and");
}

/// Cosines and sines that are multiplied with a factor scale scores, of blocks that turn by them and by whole heads.
TEST_F(GgufRope, scores_are_scaled_where_blocks_turn_by_scaled_angles) {
  const double factor = std::pow(1 + 0.1 * std::log(4.0), 2);
  architecture_ = "phi3";
  turned_ = 10;
  expect_refused({{"factor", 4.0F}},
                 "rope.dimension_count: expected all 20 places of a head where positions scale the scores, found 10");
  EXPECT_EQ(file({{"factor", 1.0F}}).ropes.front().turned, 5U);
  architecture_ = "smollm3";
  turned_ = 20;
  EXPECT_EQ(file({{"factor", 4.0F}}).ropes.back().turned, 0U);
  EXPECT_EQ(factors_of_blocks(), (std::vector<double>{factor, factor, factor, 1}));
  architecture_ = "olmo2";
  EXPECT_EQ(file({{"factor", 4.0F}}).factors[gamma_q], factor);
  EXPECT_EQ(factors_of_blocks(), std::vector<double>());
  window_ = 40;  // OLMo 3: blocks that have one turn by plain angles
  const CheckpointConfig config = file({{"factor", 4.0F}});
  EXPECT_EQ(config.ropes.size(), 2U);
  EXPECT_EQ(config.ropes.front().scaling, RopeScaling::none);
  EXPECT_EQ(config.ropes.back().scaling, RopeScaling::yarn);
  EXPECT_EQ(config.factors[gamma_q], 1);
  EXPECT_EQ(factors_of_blocks(), (std::vector<double>{1, 1, 1, factor}));
}

TEST_F(GgufRope, other_scalings_are_refused_by_name) {
  for (const char* type : {"longrope", "dynamic", "ntk", ""}) {
    expect_refused({{"factor", 4.0F}}, R"(rope.scaling.type: expected one of ["none","linear","yarn"], found ")", 64,
                   type);
  }
  // numbers that the type does not have
  for (const char* type : {"none", "linear"}) {
    for (const char* name : {"yarn_ext_factor", "yarn_attn_factor", "yarn_beta_fast", "yarn_beta_slow"}) {
      Scaling scaling{{name, 1.0F}};
      scaling["factor"] = type == std::string("none") ? 1.0F : 4.0F;
      expect_input_error([&] { (void)file(scaling, 64, type); }, std::string("llama.rope.scaling.") + name);
    }
  }
  // and tensors of factors beside it
  for (const char* name : {"rope_freqs.weight", "rope_factors_short.weight"}) {
    tensors_ = {name};
    for (const char* type : {"linear", "yarn"}) {
      expect_input_error([&] { (void)file({{"factor", 4.0F}}, 64, type); }, name);
    }
  }
}

/// A folder's blocks that do not turn have scores that nothing scales.
TEST_F(GgufRope, smollm3_s_still_blocks_have_no_factor) {
  json config = {{"model_type", "smollm3"},
                 {"hidden_size", 80},
                 {"intermediate_size", 176},
                 {"num_hidden_layers", 4},
                 {"num_attention_heads", 4},
                 {"num_key_value_heads", 2},
                 {"vocab_size", 8},
                 {"rms_norm_eps", 1e-5},
                 {"max_position_embeddings", 256},
                 {"hidden_act", "silu"},
                 {"no_rope_layers", {1, 1, 1, 0}},
                 {"rope_scaling", {{"type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 64}}}};
  const auto read = [&] {
    write_file(folder_.path() / "config.json", config.dump());
    return read_checkpoint_config(folder_.path() / "config.json");
  };
  const double factor = std::pow(1 + 0.1 * std::log(4.0), 2);
  const auto of_blocks = [&] { return read().factors.blocks[wq]; };
  EXPECT_EQ(read().factors[wq], 1);
  EXPECT_EQ(of_blocks(), (std::vector<double>{factor, factor, factor, 1}));
  config["no_rope_layers"] = {1, 1, 1, 1};
  EXPECT_DOUBLE_EQ(read().factors[wq], factor);
  EXPECT_EQ(of_blocks(), std::vector<double>());
  config["no_rope_layers"] = {1, 1, 1, 0};
  config["rope_scaling"]["attention_factor"] = 1;
  EXPECT_EQ(read().factors[wq], 1);
  EXPECT_EQ(read().ropes.size(), 2U);
  EXPECT_EQ(of_blocks(), std::vector<double>());
}

}  // namespace
}  // namespace tessera::test
