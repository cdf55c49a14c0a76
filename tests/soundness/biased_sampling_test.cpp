// Tokens that are sampled from logits with biases.

#include <gtest/gtest.h>

#include "llama_fixture.hpp"

namespace tessera::test {
namespace {

Sampling some_sampling(std::uint32_t top_k) {
  Sampling sampling{.inverse_temperature = 600, .top_k = top_k, .top_p = top_p_unit, .cutoff = 9000, .seed = {}};
  sampling.seed.fill(3);
  return sampling;
}

/// The ways that the key allows: from a list, from the best one, from the whole vocabulary.
std::vector<Sampling> ways() {
  std::vector<Sampling> all{some_sampling(0)};
  if (hiding_proofs == 0) {
    all.push_back(some_sampling(6));
    all.push_back(some_sampling(1));
  }
  return all;
}

TestModel& biased_model() { return family_model(shared_norm); }

ModelPlan plan_of(const Sampling& sampling) {
  return ModelPlan::of(biased_model().key,
                       PassShape{.prompt = llama_prompt.size(), .generated = llama_generated, .sampling = sampling});
}

/// By the true plan, of what the liar's plan and parameters make.
Verdict verdict_on(const Sampling& sampling, const std::function<void(ModelPlan&)>& change_plan,
                   const Parameters* parameters = nullptr) {
  TestModel& test = biased_model();
  ModelPlan plan = plan_of(sampling);
  const ModelPlan truth = plan;
  if (change_plan) {
    change_plan(plan);
  }
  LlamaLie told = llama_inference(test, plan, {}, parameters);
  std::optional<ParameterTensors> tensors;
  if (parameters != nullptr) {
    tensors = ParameterTensors::of(test.model.shape, *parameters);
  }
  Forgery forgery(test, std::move(told.statement), plan, std::move(told.trace), tensors ? *tensors : test.parameters);
  return verdict_of(forgery, truth);
}

TEST(BiasedSampling, the_truth_is_accepted_and_depends_on_the_biases) {
  TestModel& test = biased_model();
  for (const Sampling& sampling : ways()) {
    SCOPED_TRACE(sampling.top_k);
    expect_accepted(verdict_on(sampling, {}));
    // by the way that everybody infers, too
    const ModelPlan plan = plan_of(sampling);
    EXPECT_EQ(run_inference(test.integers, plan, llama_prompt, test.comm).generated_tokens(),
              llama_inference(test, plan).statement.generated);
  }
  const auto values = test.model.parameters[head_bias].values();
  EXPECT_NE(std::ranges::count(values, 0), static_cast<std::ptrdiff_t>(values.size()));
}

TEST(BiasedSampling, other_biases_are_rejected) {
  for (const Sampling& sampling : ways()) {
    SCOPED_TRACE(sampling.top_k);
    for (const bool none : {true, false}) {
      Parameters parameters = biased_model().model.parameters;
      for (std::int16_t& value : parameters[head_bias].values()) {
        value = static_cast<std::int16_t>(none ? 0 : value + 1);
      }
      EXPECT_FALSE(verdict_on(sampling, {}, &parameters).accepted);
    }
    EXPECT_FALSE(verdict_on(sampling, [](ModelPlan& plan) { --plan.logits.bias_shift; }).accepted);
  }
}

/// The only candidate's logit is as much better as its bias is large, and so are all distances from it, its own too:
/// what it is made of alone is false. Where the liar makes it of another bias, only the claim on that is false.
TEST(BiasedSampling, biases_of_candidates_count_once) {
  if (hiding_proofs > 0) {
    GTEST_SKIP() << "under hiding keys nothing is sampled from a list";
  }
  TestModel& test = biased_model();
  const ModelPlan plan = plan_of(some_sampling(1));
  const SampledPlan& sampled = *plan.logits.sampled;
  const Recorded<std::int64_t>& candidate = sampled.logit;
  Parameters larger = test.model.parameters;
  for (std::int16_t& value : larger[head_bias].values()) {
    value = static_cast<std::int16_t>(value + std::abs(value));
  }
  const ParameterTensors tensors = ParameterTensors::of(test.model.shape, larger);
  enum class Lie : std::uint8_t { none, logit, logit_and_bias };
  for (const Lie lie : {Lie::none, Lie::logit, Lie::logit_and_bias}) {
    LlamaLie told = llama_inference(test, plan);
    for (std::size_t row = 0; row < llama_generated; ++row) {
      const std::uint32_t id = told.statement.generated[row];
      const std::int64_t bias = test.model.parameters[head_bias].values()[id];
      ASSERT_NE(bias, 0);
      told.trace[candidate].values()[sampled.place(0, row)] +=
          lie == Lie::none ? 0 : std::abs(bias) << plan.logits.bias_shift;
    }
    Forgery forgery(test, told.statement, plan, std::move(told.trace));
    ChunkedTensor<std::int64_t>& difference = forgery.zeros(plan.logits.logits);
    for (std::size_t row = 0; row < llama_generated; ++row) {
      const std::int64_t best = forgery.trace[candidate].values()[sampled.place(0, row)];
      for (std::size_t token = 0; token < plan.logits.n_vocab; ++token) {
        const std::int64_t logit = block_row(forgery.trace[plan.logits.values], 0, token)[row];
        block_row(difference, 0, token)[row] = best - logit - (token < told.statement.generated[row] ? 1 : 0);
      }
    }
    forgery.set_range(plan.logits.difference, difference);
    forgery.recount();
    const std::string chosen = "/final/logits/chosen";
    if (lie == Lie::logit_and_bias) {
      forgery.listener.begins = [&](std::string_view path) {
        if (path == chosen) {
          forgery.witness->parameters = tensors.views();
        }
      };
    }
    const Verdict verdict = verdict_of(forgery, plan);
    if (lie == Lie::none) {
      expect_accepted(verdict);
    } else {
      expect_rejected(verdict, lie == Lie::logit ? chosen : opening_scope);
    }
  }
}

/// w_L has room for biases as they are scaled.
TEST(BiasedSampling, logits_are_as_wide_as_their_biases) {
  VerifyingKey key = biased_model().key;
  const auto width = [&] { return check_sampling(key, some_sampling(0), 1).logit_bits; };
  const unsigned products = ceil_log2(key.shape.n_embd) + key.widths.final_bits + 16;
  key.exponents[head_bias] = key.exponents[scales::uf] + key.exponents[head];
  EXPECT_EQ(width(), products);
  const auto even = static_cast<std::int32_t>(products) - 17;  // both are as large
  key.exponents[head_bias] -= even;
  EXPECT_EQ(width(), products);
  --key.exponents[head_bias];
  EXPECT_EQ(width(), products + 1);
}

}  // namespace
}  // namespace tessera::test
