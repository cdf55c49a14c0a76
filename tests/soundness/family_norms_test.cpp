// Norms behind branches and the stream that a branch reads without a norm: each lie is consistent up to one range
// check.

#include <gtest/gtest.h>

#include "llama_fixture.hpp"
#include "saturation_runs.hpp"

namespace tessera::test {
namespace {

constexpr std::size_t lied_feature = 3;

const BranchNorm& norm_behind(const ModelPlan& plan, LlamaStage stage) {
  return stage == LlamaStage::projection ? plan.projection.normed.value() : gated_mlp(plan).normed.value();
}

/// What a liar changes of a norm in the filler's row.
struct NormLie {
  std::int64_t h_by = 0;  // at one feature; its remainder is left
  std::int64_t sigma_by = 0, inverse_by = 0;
  std::int64_t update_by = 0;  // behind a branch, at one feature; its remainder changes by 2^S the other way
};

/// h, sigma and I as the liar says. Returns I.
template <class T>
std::int64_t renormalize(LlamaRun& run, const ValueNormPlan<T>& norm, const NormLie& lie) {
  Trace& trace = run.trace;
  T& changed = block_row(trace[norm.h], lied_block, lied_feature)[filler_row];
  changed = static_cast<T>(changed + lie.h_by);
  std::int64_t variance = norm.epsilon;
  for (std::size_t f = 0; f < norm.features; ++f) {
    const std::int64_t h = block_row(trace[norm.h], lied_block, f)[filler_row];
    variance += h * h;
  }
  const std::int64_t sigma = floor_sqrt(variance) + lie.sigma_by;
  const std::int64_t inverse = norm.norm_numerator / sigma + lie.inverse_by;
  const std::size_t place = lied_block * run.batch.size + filler_row;
  trace[norm.sigma].values()[place] = static_cast<std::int32_t>(sigma);
  trace[norm.inverse].values()[place] = static_cast<std::int32_t>(inverse);
  return inverse;
}

LlamaLiar lie_behind(LlamaStage stage, const NormLie& lie) {
  return llama_lie(stage, lied_block, [=](LlamaRun& run) {
    const BranchNorm& behind = norm_behind(run.plan, stage);
    const BranchNormPlan& norm = behind.norm;
    const std::int64_t inverse = renormalize(run, norm, lie);
    const CommittedValue<std::int32_t>& before = stage == LlamaStage::projection ? run.plan.x_in : run.plan.x_mid;
    for (std::size_t f = 0; f < norm.features; ++f) {
      const std::int64_t gain = run.context.vector(norm.gamma, lied_block)[f] * (1 << gain_piece_bits) +
                                run.context.vector(norm.gamma_low().value(), lied_block)[f];
      const Rounded update =
          rshift(block_row(run.trace[norm.h], lied_block, f)[filler_row] * inverse * gain, behind.out_shift);
      const std::int64_t by = f == lied_feature ? lie.update_by : 0;
      block_row(run.trace[behind.remainder], lied_block, f)[filler_row] =
          update.remainder - by * (std::int64_t{1} << behind.out_shift);
      run.batch.x[f * run.batch.size + filler_row] =
          static_cast<std::int32_t>(block_row(run.trace[before], lied_block, f)[filler_row] + update.quotient + by);
    }
  });
}

/// Of the norm of all heads of q (0) or k (1).
LlamaLiar lie_of_heads(std::size_t part, const NormLie& lie) {
  return llama_lie(LlamaStage::qkv, lied_block, [=](LlamaRun& run) {
    const GroupedQkvPlan& qkv = grouped_qkv(run.plan);
    const HeadNormPlan& norm = qkv.head_norm.at(part).value();
    const std::int64_t inverse = renormalize(run, norm, lie);
    const std::size_t half = qkv.rotary.half;
    const auto product = [&](std::size_t row) {
      return block_row(run.trace[norm.h], lied_block, row)[filler_row] * inverse *
             run.context.vector(norm.gamma, lied_block)[row];
    };
    const auto set = [&](std::size_t row, std::int64_t sum) {
      const Rounded rounded = rshift(sum, qkv.shift[part]);
      const auto value = static_cast<std::int16_t>(rounded.quotient);
      block_row(run.trace[qkv.value[part]], lied_block, row)[filler_row] = value;
      block_row(run.trace[qkv.remainder[part]], lied_block, row)[filler_row] = rounded.remainder;
      (part == 0 ? run.cache.q[row * run.batch.size + filler_row]
                 : run.cache.k[run.cache.block_offset(lied_block) + row * run.cache.capacity + filler_row]) = value;
    };
    for (std::size_t row = 0; row < norm.features; ++row) {
      const std::size_t i = row % (2 * half);
      const std::int64_t cos = qkv.rotary.cos(0, filler_row)[i % half];
      const std::int64_t sin = qkv.rotary.sin(0, filler_row)[i % half];
      set(row,
          i < half ? product(row) * cos - product(row + half) * sin : product(row) * cos + product(row - half) * sin);
    }
  });
}

Verdict verdict_on(TestModel& test, const ModelPlan& plan, const LlamaLiar& liar, const ForgeryChange& change) {
  return verdict_on_llama(test, plan, llama_inference(test, plan, liar), change);
}

/// Rejected for its range alone.
void only_range_catches(TestModel& test, const LlamaLiar& liar, RangeId range, bool negative,
                        const ForgeryChange& change = {}) {
  ModelPlan plan = llama_plan(test.key);
  expect_rejected(verdict_on(test, plan, liar, change), lookup_scope);
  widen(plan, range, 1, negative);
  expect_accepted(verdict_on(test, plan, liar, change));
}

/// Pieces of a remainder that has 2^more beside what inference recorded, at the lied feature.
template <class T>
ForgeryChange remainder_of(const RecordedRange<T>& range, std::optional<int> more = {}) {
  return [=](Forgery& forgery) {
    ChunkedTensor<std::int64_t>& values = forgery.copy(forgery.witness->view(range));
    block_row(values, lied_block, lied_feature)[filler_row] += more ? std::int64_t{1} << *more : 0;
    forgery.set_range(range, values);
  };
}

TEST(FamilyNorms, behind_branches_are_what_they_say) {
  for (const FamilyKind kind : {norms_after, norms_around}) {
    for (const LlamaStage stage : {LlamaStage::projection, LlamaStage::mlp}) {
      SCOPED_TRACE(std::string(family_names[kind]) + (stage == LlamaStage::mlp ? ", MLP" : ", attention"));
      TestModel& test = family_model(kind);
      const ModelPlan plan = llama_plan(test.key);
      const BranchNorm& behind = norm_behind(plan, stage);
      const auto rejected = [&](const NormLie& lie, RangeId range, bool negative, const ForgeryChange& change = {}) {
        only_range_catches(test, lie_behind(stage, lie), range, negative, change);
      };
      expect_accepted(verdict_on(test, plan, lie_behind(stage, {}), {}));
      rejected({.h_by = -1}, behind.norm.h_remainder, false, remainder_of(behind.norm.h_remainder, behind.norm.shift));
      rejected({.update_by = -1}, behind.remainder, false, remainder_of(behind.remainder));
      rejected({.sigma_by = 1}, behind.norm.root_remainder, true);
      rejected({.sigma_by = -1}, behind.norm.root_complement, true);
      rejected({.inverse_by = 1}, behind.norm.inverse_remainder, true);
      rejected({.inverse_by = -1}, behind.norm.inverse_complement, true);
    }
  }
}

TEST(FamilyNorms, of_all_heads_are_what_they_say) {
  TestModel& test = family_model(norms_after);
  const ModelPlan plan = llama_plan(test.key);
  for (const std::size_t part : {0, 1}) {
    const HeadNormPlan& norm = grouped_qkv(plan).head_norm.at(part).value();
    const auto rejected = [&](const NormLie& lie, RangeId range, bool negative, const ForgeryChange& change = {}) {
      only_range_catches(test, lie_of_heads(part, lie), range, negative, change);
    };
    expect_accepted(verdict_on(test, plan, lie_of_heads(part, {}), {}));
    rejected({.h_by = -1}, norm.h_remainder, false, remainder_of(norm.h_remainder, norm.shift));
    rejected({.sigma_by = 1}, norm.root_remainder, true);
    rejected({.sigma_by = -1}, norm.root_complement, true);
    rejected({.inverse_by = 1}, norm.inverse_remainder, true);
    rejected({.inverse_by = -1}, norm.inverse_complement, true);
  }
}

/// u one less.
LlamaLiar lie_of_stream(NormLayer ModelPlan::*layer, LlamaStage stage) {
  return llama_lie(stage, lied_block, [layer](LlamaRun& run) {
    run.batch.wide_u[lied_feature * run.batch.size + filler_row] -= 1;
    block_row(run.trace[std::get<StreamInput>(run.plan.*layer).u], lied_block, lied_feature)[filler_row] -= 1;
  });
}

/// Its remainder 2^S more.
TEST(FamilyNorms, a_stream_without_a_norm_is_rounded) {
  TestModel& test = family_model(norms_after);
  const ModelPlan plan = llama_plan(test.key);
  for (const auto& [layer, stage] :
       {std::pair{&ModelPlan::norm_1, LlamaStage::norm_1}, {&ModelPlan::norm_2, LlamaStage::norm_2}}) {
    const StreamInput& input = std::get<StreamInput>(plan.*layer);
    only_range_catches(test, lie_of_stream(layer, stage), input.remainder, false,
                       remainder_of(input.remainder, input.shift));
  }
}

/// A value in range of the filler's row is given away for an entry of its list, all else follows from it: only the
/// claim that it is at its limit sees it.
TEST(FamilyNorms, a_listed_value_is_at_its_limit) {
  for (const FamilyKind kind : {norms_after, norms_around, capped_scores}) {
    TestModel test(family_model(kind).model, hiding_proofs, default_exceptions);
    const ModelPlan plan = llama_plan(test.key);
    const auto rejected = [&](const std::string& list, const std::string& scope, const LlamaLiar& liar) {
      SCOPED_TRACE(std::string(family_names[kind]) + ": " + list);
      LlamaLie told = llama_inference(test, plan, liar);
      const std::size_t number = list_number(plan, list);
      const std::size_t features = plan.clamped[number].shape.dimensions()[1].length;
      told.trace.exceptions.resize(plan.clamped.size());
      told.trace.exceptions[number] = {{(lied_block * features + lied_feature) * llama_tokens + filler_row, 1}};
      expect_rejected(verdict_on_llama(test, plan, std::move(told)), scope);
    };
    rejected("o_norm/h", "/self_attention/projection/norm/reduce", lie_behind(LlamaStage::projection, {.h_by = -1}));
    rejected("mlp_norm/h", "/feed_forward/gated_mlp/norm/reduce", lie_behind(LlamaStage::mlp, {.h_by = -1}));
    if (plan.model.norm_across_heads) {
      rejected("q_norm/h", "/self_attention/qkv/q/norm/reduce", lie_of_heads(0, {.h_by = -1}));
      rejected("k_norm/h", "/self_attention/qkv/k/norm/reduce", lie_of_heads(1, {.h_by = -1}));
    }
    if (!plan.model.norm_before()) {
      rejected("u1", "/self_attention/stream_input/reduce", lie_of_stream(&ModelPlan::norm_1, LlamaStage::norm_1));
      rejected("u2", "/feed_forward/stream_input/reduce", lie_of_stream(&ModelPlan::norm_2, LlamaStage::norm_2));
    }
  }
}

}  // namespace
}  // namespace tessera::test
