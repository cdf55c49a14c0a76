#pragma once

#include "architecture/model_plan.hpp"

namespace tessera::test {

// The layers of a GPT-2 model's plan.
inline const LayerNormPlan& layer_norm(const NormLayer& norm) { return std::get<LayerNormPlan>(norm); }
inline const QkvPlan& gpt2_qkv(const QkvLayer& qkv) { return std::get<QkvPlan>(qkv); }
inline const MlpPlan& gpt2_mlp(const MlpLayer& mlp) { return std::get<MlpPlan>(mlp); }

}  // namespace tessera::test
