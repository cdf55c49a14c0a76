#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "checkpoint_fixture.hpp"
#include "checkpoints/families/family.hpp"
#include "float_model/float_model.hpp"
#include "integer_model/quantization.hpp"

namespace tessera::test {
namespace {

FamilyModel granite(bool tied) {
  const TemporaryFolder folder;
  const nlohmann::json config{{"architectures", {"GraniteForCausalLM"}},
                              {"attention_multiplier", 0.25},
                              {"embedding_multiplier", 12.0},
                              {"hidden_act", "silu"},
                              {"hidden_size", 64},
                              {"intermediate_size", 96},
                              {"logits_scaling", 8.0},
                              {"max_position_embeddings", 64},
                              {"model_type", "granite"},
                              {"num_attention_heads", 4},
                              {"num_hidden_layers", 2},
                              {"num_key_value_heads", 2},
                              {"residual_multiplier", 0.22},
                              {"rms_norm_eps", 1e-5},
                              {"tie_word_embeddings", tied},
                              {"vocab_size", 300}};
  write_file(folder.path() / "config.json", config.dump());
  return read_family(folder.path() / "config.json", {});
}

/// A head of its own takes in what logits are divided by: the gains before it are powers of two in the integers. With
/// a tied head they are not, and take away the embedding's factor, too.
TEST(FamilyFactors, of_granite_s_logits_are_where_integers_have_them) {
  const ParameterFactors own = granite(false).config.factors;
  EXPECT_EQ(own[head], 1.0 / 8);
  EXPECT_EQ(own[gammaf], 1);
  EXPECT_EQ(own[embedding], 12);
  const ParameterFactors tied = granite(true).config.factors;
  EXPECT_EQ(tied[gammaf], 1.0 / (8 * 12));
  EXPECT_EQ(tied[head], 1);
  EXPECT_EQ(tied[embedding], 12);
}

/// OLMo 3 of four blocks, the last of which sees everything; 16 features, heads of 8 places.
class Olmo3Factors : public CheckpointFixture {
 protected:
  Olmo3Factors() {
    config_ = {{"architectures", {"Olmo3ForCausalLM"}},
               {"hidden_act", "silu"},
               {"hidden_size", 16},
               {"intermediate_size", 24},
               {"max_position_embeddings", 256},
               {"model_type", "olmo3"},
               {"num_attention_heads", 2},
               {"num_hidden_layers", 4},
               {"num_key_value_heads", 1},
               {"rms_norm_eps", 1e-6},
               {"rope_scaling",
                {{"attention_factor", 1.25},
                 {"factor", 4.0},
                 {"original_max_position_embeddings", 64},
                 {"rope_type", "yarn"}}},
               {"sliding_window", 8},
               {"vocab_size", 32}};
    header_ = nlohmann::json::object();
    data_.clear();
    add("model.embed_tokens.weight", {32, 16});
    add("lm_head.weight", {32, 16});
    add("model.norm.weight", {16});
    for (int block = 0; block < 4; ++block) {
      for (const auto& [name, extents] :
           std::map<std::string, std::vector<std::size_t>>{{"self_attn.q_proj.weight", {16, 16}},
                                                           {"self_attn.k_proj.weight", {8, 16}},
                                                           {"self_attn.v_proj.weight", {8, 16}},
                                                           {"self_attn.o_proj.weight", {16, 16}},
                                                           {"self_attn.q_norm.weight", {16}},
                                                           {"self_attn.k_norm.weight", {8}},
                                                           {"post_attention_layernorm.weight", {16}},
                                                           {"post_feedforward_layernorm.weight", {16}},
                                                           {"mlp.gate_proj.weight", {24, 16}},
                                                           {"mlp.up_proj.weight", {24, 16}},
                                                           {"mlp.down_proj.weight", {16, 24}}}) {
        add("model.layers." + std::to_string(block) + "." + name, extents);
      }
    }
  }

  /// What query norms of a block have where nothing scales them: value i is value_of(i).
  static float value_of(std::size_t i) { return 0.5F + static_cast<float>(i) / 16; }
  static void expect_gains(const FloatModel& model, ParameterId id, std::size_t block, float factor) {
    const std::span<const float> values = model.parameters[id].values();
    const std::size_t size = values.size() / 4;
    for (std::size_t i = 0; i < size; ++i) {
      EXPECT_EQ(values[block * size + i], value_of(i) * factor) << "block " << block << ", " << i;
    }
  }

 private:
  void add(const std::string& name, const std::vector<std::size_t>& extents) {
    std::size_t size = 1;
    for (const std::size_t extent : extents) {
      size *= extent;
    }
    std::vector<float> values(size);
    for (std::size_t i = 0; i < size; ++i) {
      values[i] = value_of(i);
    }
    append(name, "F32", extents, {reinterpret_cast<const char*>(values.data()), size * sizeof(float)});
  }
};

/// Yarn is of the blocks without a window alone, and so is its factor, which the gains of their queries take in.
TEST_F(Olmo3Factors, of_attention_are_those_of_each_block) {
  const FloatModel model = load();
  EXPECT_EQ(model.ropes.size(), 2U);
  EXPECT_EQ(model.factors[gamma_q], 1);
  EXPECT_EQ(model.factors.blocks[gamma_q], (std::vector<double>{1, 1, 1, 1.5625}));
  for (std::size_t block = 0; block < 4; ++block) {
    expect_gains(model, gamma_q, block, 1);
    expect_gains(model, gamma_k, block, 1);
  }
}

/// What a block's factor does is what its values times it do: in floats, in what they are taken to stay below, and in
/// integers.
TEST_F(Olmo3Factors, of_blocks_are_taken_in) {
  const FloatModel model = load();
  FloatModel multiplied = load();
  multiplied.factors.blocks[gamma_q].clear();
  for (float& value : multiplied.parameters[gamma_q].values().last(16)) {
    value *= 1.5625F;  // exactly
  }
  const std::vector<std::uint32_t> ids{1, 5, 7, 3, 30, 2, 9, 11, 4, 8, 12};
  const auto logits = [&](const FloatModel& of) {
    const FloatTransformer transformer{FloatModel(of)};
    KeyValueCache cache(of.shape, ids.size());
    return transformer.logits(transformer.extend({&cache, 1}, ids));
  };
  const auto off = [&](const FloatModel& of) {
    const std::vector<double> found = logits(model), expected = logits(of);
    double most = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      most = std::max(most, std::abs(found[i] - expected[i]) / std::abs(expected[i]));
    }
    return most;
  };
  EXPECT_LT(off(multiplied), 1e-14);
  FloatModel plain = load();
  plain.factors.blocks[gamma_q].clear();
  EXPECT_GT(off(plain), 1e-14);
  EXPECT_DOUBLE_EQ(parameter_maxima(model)[gamma_q], parameter_maxima(multiplied)[gamma_q]);
  EXPECT_DOUBLE_EQ(parameter_maxima(model)[gamma_q], 1.5625 * parameter_maxima(plain)[gamma_q]);
  Exponents exponents;
  exponents[embedding] = 9;
  exponents[gamma_q] = 9;
  EXPECT_TRUE(quantize(model, exponents)[gamma_q] == quantize(multiplied, exponents)[gamma_q]);
  EXPECT_FALSE(quantize(model, exponents)[gamma_q] == quantize(plain, exponents)[gamma_q]);
}

/// One factor of all blocks is one of the parameter, whose values stay.
TEST_F(Olmo3Factors, of_attention_that_all_blocks_have_are_one) {
  config_["layer_types"] = std::vector<std::string>(4, "full_attention");
  const FloatModel model = load();
  EXPECT_EQ(model.ropes.size(), 1U);
  EXPECT_EQ(model.factors[gamma_q], 1.5625);
  EXPECT_TRUE(model.factors.blocks[gamma_q].empty());
  for (std::size_t block = 0; block < 4; ++block) {
    expect_gains(model, gamma_q, block, 1);
  }
}

}  // namespace
}  // namespace tessera::test
