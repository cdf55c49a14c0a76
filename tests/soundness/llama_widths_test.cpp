// Values of Llama models beyond the widths that their keys say, one more in the last piece of a remainder of several.

#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>

#include "llama_fixture.hpp"

namespace tessera::test {
namespace {

/// Rejected for its width under the true plan, accepted if the one range takes it.
void only_width_catches(TestModel& test, const LlamaLie& lie, RangeId range, bool negative,
                        const ForgeryChange& change = {}) {
  ModelPlan plan = llama_plan(test.key);
  expect_rejected(verdict_on_llama(test, plan, lie, change), lookup_scope);
  widen(plan, range, 1, negative);
  expect_accepted(verdict_on_llama(test, plan, lie, change));
}

/// u one less, its remainder 2^S more, at one feature of the filler's row.
LlamaLiar lower_output(NormLayer ModelPlan::*layer, LlamaStage stage, std::size_t block) {
  return llama_lie(stage, block, [=](LlamaRun& run) {
    constexpr std::size_t feature = 3;
    const RmsNormPlan& norm = rms_norm(run.plan.*layer);
    const auto lower = [&](const auto& recorded, auto& values) {
      values[feature * run.batch.size + filler_row] -= 1;
      block_row(run.trace[recorded], block, feature)[filler_row] -= 1;
    };
    norm.wide() ? lower(norm.wide_u, run.batch.wide_u) : lower(norm.u, run.batch.u);
    block_row(run.trace[norm.u_remainder], block, feature)[filler_row] += std::int64_t{1} << norm.shift;
  });
}

TEST(LlamaWidths, outputs_of_norms_are_rounded) {
  for (const LlamaKind kind : {plain, biased, normed}) {
    SCOPED_TRACE(llama_names[kind]);
    TestModel& test = llama_model(kind);
    const ModelPlan plan = llama_plan(test.key);
    for (const auto& [layer, stage, block] : {std::tuple{&ModelPlan::norm_1, LlamaStage::norm_1, 1},
                                              {&ModelPlan::norm_2, LlamaStage::norm_2, 1},
                                              {&ModelPlan::norm_final, LlamaStage::norm_final, 0}}) {
      const RecordedRange<std::int64_t> remainder = rms_norm(plan.*layer).u_remainder;
      only_width_catches(test, llama_inference(test, plan, lower_output(layer, stage, static_cast<std::size_t>(block))),
                         remainder, false, [&](Forgery& forgery) {  // whose pieces may have more than 16 bits
                           forgery.set_range(remainder, forgery.copy(forgery.witness->view(remainder)));
                         });
    }
    EXPECT_EQ(plan.ranges[rms_norm(plan.norm_final).u_remainder.range].pieces(), kind == normed ? 3U : 2U);
  }
}

/// By how much an exponent may grow until the largest of these values needs `bits` bits beside its sign.
template <class T>
int room(const ChunkedTensor<T>& values, unsigned bits) {
  std::uint64_t largest = 0;
  for (const T value : values.values()) {
    largest = std::max(largest, static_cast<std::uint64_t>(std::abs(std::int64_t{value})));
  }
  return static_cast<int>(bits) - static_cast<int>(std::bit_width(largest));
}

/// The model at other exponents.
TestModel finer(const TestModel& test, const std::function<void(Exponents&)>& change) {
  Model model = test.model;
  change(model.exponents);
  return TestModel(std::move(model));
}

/// Models at exponents by which values need one bit more than the width says: `check` gets such a model and its plan,
/// to which it adds the bit.
template <class Values, class Check>
void one_bit_beyond(std::initializer_list<LlamaKind> kinds, unsigned Widths::*bits, Values values_of,
                    void (*grow)(Exponents&, int by), Check check) {
  for (const LlamaKind kind : kinds) {
    SCOPED_TRACE(llama_names[kind]);
    TestModel& test = llama_model(kind);
    const ModelPlan plan = llama_plan(test.key);
    const int by = room(llama_inference(test, plan).trace[values_of(plan)], plan.widths.*bits);
    ASSERT_GT(by, 0);
    TestModel other = finer(test, [&](Exponents& exponents) { grow(exponents, by); });
    check(other, llama_plan(other.key));
  }
}

TEST(LlamaWidths, final_norm_beyond_its_width) {
  one_bit_beyond(
      {biased, normed}, &Widths::final_bits, [](const ModelPlan& plan) { return rms_norm(plan.norm_final).wide_u; },
      [](Exponents& exponents, int by) { exponents[scales::uf] += by; },
      [](TestModel& other, ModelPlan lying) {
        std::get<RmsNormPlan>(lying.norm_final).output_bits.bits += 1;
        only_width_catches(other, llama_inference(other, lying), rms_norm(lying.norm_final).output(), true);
      });
}

TEST(LlamaWidths, gated_product_beyond_its_width) {
  one_bit_beyond(
      {plain, biased, normed}, &Widths::product_bits, [](const ModelPlan& plan) { return gated_mlp(plan).product; },
      [](Exponents& exponents, int by) {
        exponents[scales::product] += by;
        exponents[w_down] -= by;
      },
      [](TestModel& other, ModelPlan lying) {
        std::get<GatedMlpPlan>(lying.mlp).product_bits += 1;
        only_width_catches(other, llama_inference(other, lying), gated_mlp(lying).product, true);
      });
}

/// It is a row of the activation's table.
TEST(LlamaWidths, gate_beyond_its_width) {
  one_bit_beyond(
      {plain, biased, normed}, &Widths::gate_bits, [](const ModelPlan& plan) { return gated_mlp(plan).z; },
      [](Exponents& exponents, int by) { exponents[scales::mlp] += by; },
      [](TestModel& other, ModelPlan lying) {
        std::get<GatedMlpPlan>(lying.mlp).gate_bits += 1;
        expect_rejected(verdict_on_llama(other, llama_plan(other.key), llama_inference(other, lying)), lookup_scope);
      });
}

}  // namespace
}  // namespace tessera::test
