#include <gtest/gtest.h>

#include <array>

#include "architecture/model_plan.hpp"
#include "cost/rates.hpp"
#include "integer_model/integer_model.hpp"
#include "integer_model/shape_key.hpp"
#include "integer_model/synthesis.hpp"

namespace tessera::test {
namespace {

TEST(Rates, of_the_nearest_ranks_nodes_and_threads) {
  const MachineRates machine{"",
                             {{.ranks = 1, .nodes = 1, .threads = 1},
                              {.ranks = 1, .nodes = 1, .threads = 2},
                              {.ranks = 2, .nodes = 1, .threads = 1},
                              {.ranks = 2, .nodes = 2, .threads = 1}}};
  const auto found = [&](int ranks, int nodes, int threads) {
    const Rates rates = rates_for(machine, {.ranks = ranks, .nodes = nodes, .threads = threads}).value();
    return std::array{rates.ranks, rates.nodes, rates.threads};
  };
  EXPECT_EQ(found(1, 1, 1), (std::array{1, 1, 1}));
  EXPECT_EQ(found(1, 1, 8), (std::array{1, 1, 2}));
  EXPECT_EQ(found(4, 1, 1), (std::array{2, 1, 1}));
  EXPECT_EQ(found(8, 4, 1), (std::array{2, 2, 1}));
  EXPECT_FALSE(rates_for({}, {}).has_value());
}

TEST(Rates, of_more_threads_are_shared_by_them) {
  Rates measured{.threads = 2};
  measured.seconds.fill(6);
  const Rates rates = rates_for({"", {measured}}, {.threads = 3}).value();
  EXPECT_EQ(rates.seconds, (ByPhase{4, 4, 4, 4, 4, 4, 4}));
}

TEST(Rates, time_is_what_is_counted) {
  JobCost cost;
  Rates rates;
  for (std::size_t i = 0; i < phase_count; ++i) {
    cost.amounts[i] = static_cast<double>(i + 1);
    rates.seconds[i] = 10;
  }
  EXPECT_EQ(seconds_of(Phase::commitment, cost, rates), 30);
  EXPECT_EQ(seconds_of(cost, rates), 280);
}

TEST(Rates, scopes_have_phases) {
  EXPECT_EQ(phase_of("/lookup"), Phase::lookup);
  EXPECT_EQ(phase_of("/self_attention"), Phase::layers);
  EXPECT_EQ(phase_of("/opening"), Phase::opening);
  EXPECT_EQ(phase_of("/opening/rows"), std::nullopt);
  EXPECT_EQ(phase_of("/"), std::nullopt);
}

/// Look-ups that a statement of these lengths has.
std::size_t lookups(const VerifyingKey& key) { return ModelPlan::of(key, 20, 12).lookup.present_leaves(); }

TEST(ShapeKey, plans_as_that_of_a_whole_model) {
  CheckpointConfig gpt2;
  gpt2.shape = {3, 96, 4, 384, 600, 64};
  CheckpointConfig llama = gpt2;
  llama.shape.layers = rotary_layers;
  llama.shape.n_kv_head = 2;
  llama.shape.head_dim = 24;
  llama.shape.qkv_bias = false;
  llama.activation = ActivationKind::silu;
  llama.ropes = {Rope{}};
  for (const CheckpointConfig& config : {gpt2, llama}) {
    const VerifyingKey whole = make_verifying_key(synthesize_model(config, 1));
    const VerifyingKey key = key_of_shape(config);
    EXPECT_EQ(key.shape, whole.shape);
    EXPECT_EQ(key.epsilon, whole.epsilon);
    EXPECT_EQ(key.parameter_oracle.log_rows, whole.parameter_oracle.log_rows);
    EXPECT_NEAR(double(lookups(key)), double(lookups(whole)), 0.05 * double(lookups(whole)));
  }
}

}  // namespace
}  // namespace tessera::test
