#pragma once

#include "architecture/model_plan.hpp"

namespace tessera {

/// One of a model's three norms over features.
struct NormOfModel {
  const char* number;  // in names: "layer_norm_<number>" or "rms_norm_<number>"
  CommittedValue<std::int32_t> x;
  ParameterId gamma, beta;
  ScaleId output;
};

// Which layers a model's description makes, declared in the plan's order.
NormLayer declare_norm(Builder& builder, const ModelPlan& plan, const NormOfModel& place);
QkvLayer declare_qkv(Builder& builder, const ModelPlan& plan, const VerifyingKey& key);
MlpLayer declare_mlp(Builder& builder, const ModelPlan& plan, const VerifyingKey& key, std::size_t table);

/// The norm behind a branch, if the model has one.
std::optional<BranchNormSpec> branch_norm(const ModelPlan& plan, const VerifyingKey& key, ParameterId gamma);

}  // namespace tessera
