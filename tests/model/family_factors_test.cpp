#include "checkpoint_fixture.hpp"
#include "checkpoints/families/family.hpp"

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

}  // namespace
}  // namespace tessera::test
