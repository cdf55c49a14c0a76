#include "layer_case.hpp"

namespace tessera::testing {
namespace {

AttentionClaims head_claims(const LayerCase& data) {
  const auto& qkv = data.plan.qkv.value;
  return {data.random_head_claim(data.witness.view(qkv[0]), 31), data.random_head_claim(data.witness.view(qkv[1]), 32),
          data.random_head_claim(data.witness.view(qkv[2]), 33)};
}

/// Two claims on a virtual tensor.
std::vector<WeightedClaim> claims_on(const LayerCase& data, const Recorded<std::int16_t>& tensor, const Shape& shape) {
  const IntegerTensor values = data.witness.view(tensor);
  return {data.random_claim(values, shape, 41), data.random_claim(values, shape, 42)};
}

std::vector<WeightedClaim> y_claims(const LayerCase& data) {
  return claims_on(data, data.plan.attention.y, data.plan.shapes.head_feature);
}

Handed handed(const LayerCase& data, const Recorded<std::int16_t>& tensor, const Shape& shape, WeightedClaim claim) {
  return {data.witness.view(tensor), &shape, std::move(claim)};
}

Layer layer_norm(const char* name, LayerNormPlan Gpt2Plan::*norm) {
  const auto consumers = [](const LayerCase& data, const LayerNormPlan& plan) {
    return claims_on(data, plan.u, plan.activation);
  };
  return {name,
          [=](ProverContext& context, const LayerCase& data) {
            run(context, data.plan.*norm, consumers(data, data.plan.*norm));
          },
          [=](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
            run(context, data.plan.*norm, consumers(data, data.plan.*norm));
            return {};
          }};
}

}  // namespace

std::vector<Layer> all_layers() {
  const auto attention = [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
    const AttentionClaims claims = run(context, data.plan.attention, y_claims(data));
    const auto& qkv = data.plan.qkv.value;
    const Shape& shape = data.plan.shapes.block_qkv;
    return {handed(data, qkv[0], shape, data.unpadded(claims.q)), handed(data, qkv[1], shape, data.unpadded(claims.k)),
            handed(data, qkv[2], shape, data.unpadded(claims.v))};
  };
  const auto logits = [](VerifierContext<E>& context, const LayerCase& data) {
    std::vector<Handed> claims;
    for (WeightedClaim& claim : run(context, data.plan.logits)) {
      claims.push_back(handed(data, data.plan.norm_final.u, data.plan.shapes.feature, std::move(claim)));
    }
    return claims;
  };
  return {
      {"logits", [](ProverContext& context, const LayerCase& data) { run(context, data.plan.logits); }, logits},
      layer_norm("layer_norm_final", &Gpt2Plan::norm_final),
      {"mlp", [](ProverContext& context, const LayerCase& data) { run(context, data.plan.mlp); },
       [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
         return {handed(data, data.plan.norm_2.u, data.plan.shapes.block_feature, run(context, data.plan.mlp))};
       }},
      layer_norm("layer_norm_2", &Gpt2Plan::norm_2),
      {"projection", [](ProverContext& context, const LayerCase& data) { run(context, data.plan.projection); },
       [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
         return {
             handed(data, data.plan.attention.y, data.plan.shapes.head_feature, run(context, data.plan.projection))};
       }},
      {"attention",
       [](ProverContext& context, const LayerCase& data) { run(context, data.plan.attention, y_claims(data)); },
       attention},
      {"qkv",
       [](ProverContext& context, const LayerCase& data) {
         run(context, data.plan.qkv, run(context, data.plan.cache, head_claims(data)));
       },
       [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
         return {handed(data, data.plan.norm_1.u, data.plan.shapes.block_feature,
                        run(context, data.plan.qkv, run(context, data.plan.cache, head_claims(data))))};
       }},
      layer_norm("layer_norm_1", &Gpt2Plan::norm_1),
      {"embedding", [](ProverContext& context, const LayerCase& data) { run(context, data.plan.embedding); },
       [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
         run(context, data.plan.embedding);
         return {};
       }},
  };
}

}  // namespace tessera::testing
