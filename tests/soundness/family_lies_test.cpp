// Lies about layers that Llama's models do not have.

#include <gtest/gtest.h>

#include "arithmetic/tables.hpp"

#include "llama_fixture.hpp"

namespace tessera::test {
namespace {

/// A prover that infers and proves by another plan than the statement's.
struct PlanLie {
  FamilyKind kind;
  const char* what;
  std::function<void(ModelPlan&)> change;
};

BranchNorm& norm_behind(ModelPlan& plan, bool attention) {
  return attention ? plan.projection.normed.value() : std::get<GatedMlpPlan>(plan.mlp).normed.value();
}

/// Another window of a block, where the same tiles are present.
void set_window(ModelPlan& plan, std::size_t block, std::size_t keys) {
  Shape& scores = plan.attention.scores;
  std::vector<std::uint32_t> windows(scores.windows().begin(), scores.windows().end());
  windows[block] = static_cast<std::uint32_t>(keys);
  const std::size_t tiles = scores.chunk_count();
  scores = Shape(scores.dimensions(), Presence::causal, windows);
  ASSERT_EQ(scores.chunk_count(), tiles);
}

std::vector<PlanLie> plan_lies() {
  const auto window = [](std::size_t block, int by) {
    return [=](ModelPlan& plan) {
      set_window(plan, block, plan.attention.scores.window(block) + static_cast<std::size_t>(by));
    };
  };
  const auto table = [](std::size_t block, std::uint32_t number) {
    return [=](ModelPlan& plan) { std::get<GroupedQkvPlan>(plan.qkv).rotary.table_of_block[block] = number; };
  };
  const auto cap = [](double constant) {
    return [=](ModelPlan& plan) {
      const Exponents& e = plan.exponents;
      const std::vector<std::int32_t> values = cap_table(constant, e[scales::uncapped], e[scales::score]);
      plan.lookup.tables[*plan.attention.cap_table].values.assign(values.begin(), values.end());
    };
  };
  std::vector<PlanLie> lies{
      {norms_after, "a key more in a window", window(0, 1)},
      {norms_after, "a key less in a window", window(1, -1)},
      {norms_around, "a window of one key", window(0, -2)},
      {norms_around, "no window", [](ModelPlan& plan) { set_window(plan, 0, 0); }},
      {norms_around, "a window where there is none", [](ModelPlan& plan) { set_window(plan, 2, 4); }},
      {norms_around, "another block's window", [](ModelPlan& plan) { set_window(plan, 0, 9); }},
      {layer_norms, "another block's rotation", table(1, 0)},
      {norms_around, "another block's rotation", table(0, 1)},
      {norms_around, "all blocks by the last rotation",
       [](ModelPlan& plan) {
         std::get<GroupedQkvPlan>(plan.qkv).rotary.table_of_block = {1, 1, 1};
       }},
      {parallel_norms, "a branch that reads the other's output",
       [](ModelPlan& plan) {
         std::get<LayerNormPlan>(plan.norm_2).x = plan.x_mid;
         plan.model.layers.branches = Branches::sequential;
       }},
      {layer_norms, "a branch that reads the other's input",
       [](ModelPlan& plan) {
         std::get<LayerNormPlan>(plan.norm_2).x = plan.x_in;
         plan.model.layers.branches = Branches::parallel;
       }},
      {capped_scores, "a window where there is none", [](ModelPlan& plan) { set_window(plan, 1, 4); }},
      {capped_scores, "no window", [](ModelPlan& plan) { set_window(plan, 2, 0); }},
      {capped_scores, "the cap of another constant", cap(3.875)},
      {capped_scores, "a cap so wide that it is none", cap(500)},
      {shared_norm, "a bias of another weight", [](ModelPlan& plan) { --plan.logits.bias_shift; }},
      {norms_after, "another epsilon of a norm of all heads",
       [](ModelPlan& plan) { std::get<GroupedQkvPlan>(plan.qkv).head_norm[0]->epsilon += 3; }},
      {norms_after, "a norm of as many values as one head has",
       [](ModelPlan& plan) { std::get<GroupedQkvPlan>(plan.qkv).head_norm[1]->norm_numerator /= 2; }}};
  for (const FamilyKind kind : {norms_after, norms_around}) {
    for (const bool attention : {true, false}) {
      lies.push_back({kind, "another epsilon behind a branch",
                      [=](ModelPlan& plan) { norm_behind(plan, attention).norm.epsilon += 5; }});
      lies.push_back({kind, "another scale behind a branch",
                      [=](ModelPlan& plan) { norm_behind(plan, attention).norm.norm_numerator += 1 << 20; }});
    }
  }
  return lies;
}

TEST(FamilyLies, another_plan_than_the_statement_s_is_rejected) {
  for (const PlanLie& lie : plan_lies()) {
    SCOPED_TRACE(std::string(family_names[lie.kind]) + ": " + lie.what);
    TestModel& test = family_model(lie.kind);
    ModelPlan plan = llama_plan(test.key);
    const ModelPlan truth = plan;
    lie.change(plan);
    if (plan.hiding) {
      plan.hide(test.key);  // its messages may be others
    }
    LlamaLie told = llama_inference(test, plan);
    Forgery forgery(test, std::move(told.statement), plan, std::move(told.trace));
    const Proof proof = forgery.prove();
    EXPECT_TRUE(verify_inference(plan, test.key, forgery.statement, proof.payload).accepted)
        << "no lie by its own plan";
    EXPECT_FALSE(verify_inference(truth, test.key, forgery.statement, proof.payload).accepted);
  }
}

TEST(FamilyLies, the_truth_is_accepted) {
  for (std::size_t kind = 0; kind < family_kinds; ++kind) {
    SCOPED_TRACE(family_names[kind]);
    TestModel& test = family_model(static_cast<FamilyKind>(kind));
    const ModelPlan plan = llama_plan(test.key);
    LlamaLie told = llama_inference(test, plan);
    Forgery forgery(test, std::move(told.statement), plan, std::move(told.trace));
    expect_accepted(verdict_of(forgery, plan));
  }
}

/// What a liar does to the inference of the true plan; what comes later follows from it.
struct ValueLie {
  FamilyKind kind;
  const char* what;
  LlamaStage stage;
  std::function<void(LlamaRun&)> change;
};

std::int32_t x_before(const LlamaRun& run, std::size_t block, std::size_t f, std::size_t t) {
  return block_row(run.trace[run.plan.x_in], block, f)[t];
}

void for_stream(LlamaRun& run, const auto& change) {
  for (std::size_t f = 0; f < run.plan.model.n_embd; ++f) {
    for (std::size_t t = 0; t < run.batch.size; ++t) {
      change(run.batch.x[f * run.batch.size + t], f, t);
    }
  }
}

std::vector<ValueLie> value_lies() {
  const auto twice = [](LlamaRun& run) {
    for_stream(run, [&](std::int32_t& x, std::size_t f, std::size_t t) { x += x - x_before(run, lied_block, f, t); });
  };
  const auto never = [](LlamaRun& run) {
    for_stream(run, [&](std::int32_t& x, std::size_t f, std::size_t t) { x = x_before(run, lied_block, f, t); });
  };
  // h in the place of what the norm makes of it
  const auto without_norm = [](LlamaRun& run) {
    const BranchNorm& norm = run.plan.projection.normed.value();
    const int shift = run.plan.exponents[scales::ho] - run.plan.exponents[scales::residual];
    for_stream(run, [&](std::int32_t& x, std::size_t f, std::size_t t) {
      const std::int64_t h = block_row(run.trace[norm.norm.h], lied_block, f)[t];
      x = static_cast<std::int32_t>(x_before(run, lied_block, f, t) + (shift > 0 ? rshift(h, shift).quotient : h));
    });
  };
  const auto one_more = [](LlamaRun& run) { ++run.batch.x[filler_row]; };
  std::vector<ValueLie> lies;
  for (std::size_t kind = 0; kind < family_kinds; ++kind) {
    const auto family = static_cast<FamilyKind>(kind);
    lies.push_back({family, "a branch added twice", LlamaStage::projection, twice});
    lies.push_back({family, "a branch never added", LlamaStage::projection, never});
    lies.push_back({family, "one more in the stream", LlamaStage::projection, one_more});
    lies.push_back({family, "one more behind the MLP", LlamaStage::mlp, one_more});
  }
  // u of the filler's row, rounded up where it was rounded down
  lies.push_back({norms_after, "a stream rounded the other way", LlamaStage::norm_1, [](LlamaRun& run) {
                    ++run.batch.wide_u[filler_row];
                    ++block_row(run.trace[std::get<StreamInput>(run.plan.norm_1).u], lied_block, 0)[filler_row];
                  }});
  lies.push_back({norms_after, "a norm left out", LlamaStage::projection, without_norm});
  lies.push_back({norms_around, "a norm left out", LlamaStage::projection, without_norm});
  return lies;
}

TEST(FamilyLies, other_values_than_the_model_s_are_rejected) {
  for (const ValueLie& lie : value_lies()) {
    SCOPED_TRACE(std::string(family_names[lie.kind]) + ": " + lie.what);
    TestModel& test = family_model(lie.kind);
    const ModelPlan plan = llama_plan(test.key);
    LlamaLie told = llama_inference(test, plan, llama_lie(lie.stage, lied_block, lie.change));
    Forgery forgery(test, std::move(told.statement), plan, std::move(told.trace));
    EXPECT_FALSE(verdict_of(forgery, plan).accepted);
  }
}

/// Other parameters than the committed ones: gains without their 1, no bias.
TEST(FamilyLies, other_parameters_than_the_committed_ones_are_rejected) {
  struct Lie {
    FamilyKind kind;
    ParameterId id;
    std::function<void(std::int16_t&)> change;
  };
  const auto without_one = [](std::int32_t exponent) {
    return [=](std::int16_t& value) { value = static_cast<std::int16_t>(value - (1 << exponent)); };
  };
  const auto zero = [](std::int16_t& value) { value = 0; };
  const auto one_more = [](std::int16_t& value) { ++value; };
  const Exponents& e = family_model(norms_around).model.exponents;
  for (const Lie& lie : {Lie{norms_around, gamma_o, without_one(e[gamma_o] - gain_piece_bits)},
                         {norms_around, gamma_m, without_one(e[gamma_m] - gain_piece_bits)},
                         {norms_around, gamma_o_low, zero},
                         {norms_after, gamma_m_low, one_more},
                         {norms_around, gamma_q, without_one(e[gamma_q])},
                         {norms_around, gammaf, without_one(e[gammaf])},
                         {norms_after, gamma_k, zero},
                         {shared_norm, head_bias, zero},
                         {parallel_norms, b1, zero},
                         {parallel_norms, beta2, zero},
                         {shared_norm, bo, zero}}) {
    TestModel& test = family_model(lie.kind);
    SCOPED_TRACE(std::string(family_names[lie.kind]) + ": " +
                 std::string(parameter_row(test.model.shape, lie.id).name));
    Parameters parameters = test.model.parameters;
    std::ranges::for_each(parameters[lie.id].values(), lie.change);
    const ModelPlan plan = llama_plan(test.key);
    LlamaLie told = llama_inference(test, plan, {}, &parameters);
    const ParameterTensors tensors = ParameterTensors::of(test.model.shape, parameters);
    Forgery forgery(test, std::move(told.statement), plan, std::move(told.trace), tensors);
    EXPECT_FALSE(verdict_of(forgery, plan).accepted);
  }
}

}  // namespace
}  // namespace tessera::test
