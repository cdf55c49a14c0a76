#pragma once

#include "architecture/model_plan.hpp"

/// The layers of the Llama family (Llama, Mistral, Qwen 2 and 3) that others do not have.
namespace tessera::llama {

RmsNormPlan declare_norm(Builder& builder, const ModelPlan& plan, const NormPlace& place);
GroupedQkvPlan declare_qkv(Builder& builder, const ModelPlan& plan, const VerifyingKey& key);
GatedMlpPlan declare_mlp(Builder& builder, const ModelPlan& plan, std::size_t table);

}  // namespace tessera::llama
