// Values of Llama models that a list names and that are not at their limits.

#include <gtest/gtest.h>

#include "subprotocols/norm_inference.hpp"

#include "llama_fixture.hpp"
#include "saturation_runs.hpp"

namespace tessera::test {
namespace {

/// Changes the filler's value in a list's last row, of the last block, and what follows from it inside its layer.
struct ListedLie {
  std::string list, scope;
  LlamaStage stage;
  std::function<void(LlamaRun& run, std::size_t block, int by)> change;
};

template <class T>
void add(T& value, int by) {
  value = static_cast<T>(value + by);
}

ListedLie listed_norm(const ModelPlan& plan, NormLayer ModelPlan::*layer, std::string list, std::string scope,
                      LlamaStage stage) {
  return {std::move(list), std::move(scope), stage, [&plan, layer](LlamaRun& run, std::size_t block, int by) {
            const RmsNormPlan& norm = rms_norm(plan.*layer);
            const std::size_t last = norm.features - 1;
            const auto change = [&](const auto& recorded, auto& values) {
              add(block_row(run.trace[recorded], layer == &ModelPlan::norm_final ? 0 : block, last)[filler_row], by);
              add(values[last * run.batch.size + filler_row], by);
            };
            norm.wide() ? change(norm.wide_u, run.batch.wide_u) : change(norm.u, run.batch.u);
          }};
}

ListedLie listed_value(const ModelPlan& plan, std::size_t part) {
  const std::string name = qkv_names[part];
  return {name, "/self_attention/qkv/" + name + "/reduce", LlamaStage::qkv,
          [&plan, part](LlamaRun& run, std::size_t block, int by) {
            const std::size_t last = (part == 0 ? run.cache.queries : run.cache.rows).size() - 1;
            add(block_row(run.trace[grouped_qkv(plan).value[part]], block, last)[filler_row], by);
            add(part == 0
                    ? run.cache.q[last * run.batch.size + filler_row]
                    : (part == 1 ? run.cache.k
                                 : run.cache.v)[run.cache.block_offset(block) + last * run.cache.capacity + filler_row],
                by);
          }};
}

ListedLie listed_head(const ModelPlan& plan, std::size_t part) {
  const std::string name = qkv_names[part];
  return {name + "_norm/h", "/self_attention/qkv/" + name + "/norm/reduce", LlamaStage::qkv,
          [&plan, part](LlamaRun& run, std::size_t block, int by) {
            const HeadNormPlan& norm = *grouped_qkv(plan).head_norm[part];
            const std::size_t head = norm.token.chunk_count() / plan.model.n_layer - 1;
            const auto value = [&](std::size_t i) -> std::int16_t& {
              return block_row(run.trace[norm.h], block, head * norm.features + i)[filler_row];
            };
            add(value(norm.features - 1), by);
            std::int64_t variance = norm.epsilon;
            for (std::size_t i = 0; i < norm.features; ++i) {
              variance += std::int64_t{value(i)} * value(i);
            }
            renormalize_head(run, part, block, head, floor_sqrt(variance), 0);
          }};
}

std::vector<ListedLie> listed_lies(const TestModel& test, const ModelPlan& plan) {
  std::vector<ListedLie> lies{
      listed_norm(plan, &ModelPlan::norm_1, "rms_norm_1/u", "/self_attention/rms_norm/reduce", LlamaStage::norm_1),
      listed_norm(plan, &ModelPlan::norm_2, "rms_norm_2/u", "/feed_forward/rms_norm/reduce", LlamaStage::norm_2),
      listed_norm(plan, &ModelPlan::norm_final, "rms_norm_final/u", "/final/rms_norm/reduce", LlamaStage::norm_final),
      listed_value(plan, 0),
      listed_value(plan, 1),
      listed_value(plan, 2)};
  for (const std::size_t part : {0U, 1U}) {
    if (plan.model.head_norm) {
      lies.push_back(listed_head(plan, part));
    }
  }
  const std::size_t row = plan.model.n_inner - 1;
  lies.push_back({"gate", "/feed_forward/gated_mlp/reduce", LlamaStage::mlp,
                  [&test, &plan, row](LlamaRun& run, std::size_t block, int by) {
                    const GatedMlpPlan& mlp = gated_mlp(plan);
                    std::int32_t& z = block_row(run.trace[mlp.z], block, row)[filler_row];
                    add(z, by);
                    block_row(run.trace[mlp.activation], block, row)[filler_row] =
                        test.key.gelu_table[static_cast<std::size_t>(z + (1 << (mlp.gate_bits - 1)))];
                    redo_gating(run, block, row);
                  }});
  lies.push_back({"product", "/feed_forward/gated_mlp/gating/reduce", LlamaStage::mlp,
                  [row](LlamaRun& run, std::size_t block, int by) { redo_gating(run, block, row, by); }});
  return lies;
}

/// A value in range is given away for an entry: only the claim that it is at its limit sees it.
TEST(Saturation, a_listed_value_of_llama_is_at_its_limit) {
  for (const LlamaKind kind : {plain, biased, normed}) {
    TestModel& test = llama_model(kind);
    const ModelPlan plan = llama_plan(test.key);
    const std::size_t last = plan.model.n_layer - 1;
    for (const ListedLie& lie : listed_lies(test, plan)) {
      for (const int by : {-1, 3}) {
        SCOPED_TRACE(std::string(llama_names[kind]) + ": " + lie.list + " " + std::to_string(by));
        const std::size_t block = lie.stage == LlamaStage::norm_final ? 0 : last;
        LlamaLie told = llama_inference(
            test, plan, llama_lie(lie.stage, block, [&](LlamaRun& run) { lie.change(run, block, by); }));
        const std::size_t list = list_number(plan, lie.list);
        told.trace.exceptions.resize(plan.clamped.size());
        told.trace.exceptions[list] = {{place_count(plan.clamped[list].shape) - 1, -by}};
        Forgery forgery(test, std::move(told.statement), plan, std::move(told.trace));
        expect_rejected(verdict_of(forgery, plan), lie.scope);
      }
    }
  }
}

}  // namespace
}  // namespace tessera::test
