#pragma once

#include "../model/family_shapes.hpp"
#include "fixture.hpp"
#include "layers/qkv/qkv.hpp"
#include "subprotocols/inference.hpp"

namespace tessera::test {

/// Small random models: every flag both ways, groups and heads that are no powers of two.
enum LlamaKind : std::size_t { plain, biased, normed, llama_kinds };
inline constexpr std::array llama_names{"tied", "untied with biases", "untied with norms on heads"};
TestModel& llama_model(LlamaKind kind);
/// The same of other families.
TestModel& family_model(FamilyKind kind);

// Their layers.
inline const RmsNormPlan& rms_norm(const NormLayer& norm) { return std::get<RmsNormPlan>(norm); }
inline const GroupedQkvPlan& grouped_qkv(const ModelPlan& plan) { return std::get<GroupedQkvPlan>(plan.qkv); }
inline const GatedMlpPlan& gated_mlp(const ModelPlan& plan) { return std::get<GatedMlpPlan>(plan.mlp); }

/// The prompt that lies are about: 5 tokens, 2 generated, 8 rows with the filler.
inline const std::vector<std::uint32_t> llama_prompt{1, 7, 3, 12, 20};
inline constexpr std::size_t llama_generated = 2;
inline constexpr std::size_t llama_tokens = 8;
inline constexpr std::size_t filler_row = llama_tokens - 1;  // chooses no token

/// What has just been computed of a block.
enum class LlamaStage : std::uint8_t { embedding, norm_1, qkv, projection, norm_2, mlp, norm_final };

/// An inference on its way: what a liar may change. What comes later follows from it.
struct LlamaRun {
  const ModelPlan& plan;
  const InferenceContext& context;
  Trace& trace;
  Batch& batch;
  QkvCache& cache;
};
using LlamaLiar = std::function<void(LlamaStage stage, std::size_t block, LlamaRun& run)>;

/// As the liar says at one stage of one block.
LlamaLiar llama_lie(LlamaStage stage, std::size_t block, std::function<void(LlamaRun&)> lie);

/// What a liar generates and how.
struct LlamaLie {
  Statement statement;
  Trace trace;
};
/// By the plan and parameters (default: the model's) given.
LlamaLie llama_inference(TestModel& test, const ModelPlan& plan, const LlamaLiar& liar = {},
                         const Parameters* parameters = nullptr);

/// What is changed of a working set whose trace is told already.
using ForgeryChange = std::function<void(Forgery&)>;
/// Of the proof of a lie by this plan, which the verifier has, too.
Verdict verdict_on_llama(TestModel& test, const ModelPlan& plan, LlamaLie lie, const ForgeryChange& change = {});

/// The plan of the statement that lies are about.
ModelPlan llama_plan(const VerifyingKey& key);

// What liars do to the filler's row, consistently up to the end of the layer.

/// Another sigma and I of an RMS norm: sigma is `sigma_by` more, I is what follows and `inverse_by` more.
void renormalize(LlamaRun& run, const RmsNormPlan& norm, std::size_t block, std::int64_t sigma_by,
                 std::int64_t inverse_by);
/// The same of one head's norm of q (0) or k (1).
void renormalize_head(LlamaRun& run, std::size_t part, std::size_t block, std::size_t head, std::int64_t sigma,
                      std::int64_t inverse_by);
/// t of one inner feature from a and U as the trace has them, `by` more; then the update of the residual stream.
void redo_gating(LlamaRun& run, std::size_t block, std::size_t row, std::int32_t by = 0);

}  // namespace tessera::test
