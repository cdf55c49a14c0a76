#pragma once

#include "architecture/model_plan.hpp"

/// The layers of GPT-2 models that others do not have.
namespace tessera::gpt2 {

LayerNormPlan declare_norm(Builder& builder, const ModelPlan& plan, const NormPlace& place);
QkvPlan declare_qkv(Builder& builder, const ModelPlan& plan);
MlpPlan declare_mlp(Builder& builder, const ModelPlan& plan, std::size_t table);

}  // namespace tessera::gpt2
