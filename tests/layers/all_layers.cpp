#include "layer_case.hpp"

namespace tessera::test {
namespace {

AttentionClaims head_claims(const LayerCase& data) {
  const auto& qkv = values_of(data.plan.qkv);
  const AttentionPlan& attention = data.plan.attention;
  const auto& shapes = data.plan.shapes.qkv;
  return {data.random_head_claim(data.witness.view(qkv[0]), shapes[0], attention.queries, 31),
          data.random_head_claim(data.witness.view(qkv[1]), shapes[1], attention.keys, 32),
          data.random_head_claim(data.witness.view(qkv[2]), shapes[2], attention.keys, 33)};
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

/// Claims on a norm's output.
std::vector<Handed> on_output(const LayerCase& data, const NormLayer& norm, const Shape& shape,
                              std::vector<WeightedClaim> claims) {
  std::vector<Handed> result;
  for (WeightedClaim& claim : claims) {
    result.push_back({data.witness.view(input_of(norm)), &shape, std::move(claim)});
  }
  return result;
}

Layer norm_layer(const char* name, NormLayer ModelPlan::*norm, Shape ModelShapes::*shape) {
  const auto consumers = [=](const LayerCase& data) {
    return claims_on(data, Recorded<std::int16_t>{input_of(data.plan.*norm).number}, data.plan.shapes.*shape);
  };
  return {name, [=](ProverContext& context, const LayerCase& data) { run(context, data.plan.*norm, consumers(data)); },
          [=](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
            run(context, data.plan.*norm, consumers(data));
            return {};
          }};
}

}  // namespace

std::vector<Layer> all_layers() {
  const auto attention = [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
    const AttentionClaims claims = run(context, data.plan.attention, y_claims(data));
    const auto& qkv = values_of(data.plan.qkv);
    const auto& shapes = data.plan.shapes.qkv;
    return {handed(data, qkv[0], shapes[0], data.unpadded(claims.q, shapes[0])),
            handed(data, qkv[1], shapes[1], data.unpadded(claims.k, shapes[1])),
            handed(data, qkv[2], shapes[2], data.unpadded(claims.v, shapes[2]))};
  };
  const auto logits = [](VerifierContext<E>& context, const LayerCase& data) {
    return on_output(data, data.plan.norm_final, data.plan.shapes.feature, run(context, data.plan.logits));
  };
  return {
      {"logits", [](ProverContext& context, const LayerCase& data) { run(context, data.plan.logits); }, logits},
      norm_layer("norm_final", &ModelPlan::norm_final, &ModelShapes::feature),
      {"mlp", [](ProverContext& context, const LayerCase& data) { run(context, data.plan.mlp); },
       [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
         return on_output(data, data.plan.norm_2, data.plan.shapes.block_feature, run(context, data.plan.mlp));
       }},
      norm_layer("norm_2", &ModelPlan::norm_2, &ModelShapes::block_feature),
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
         return on_output(data, data.plan.norm_1, data.plan.shapes.block_feature,
                          run(context, data.plan.qkv, run(context, data.plan.cache, head_claims(data))));
       }},
      norm_layer("norm_1", &ModelPlan::norm_1, &ModelShapes::block_feature),
      {"embedding", [](ProverContext& context, const LayerCase& data) { run(context, data.plan.embedding); },
       [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
         run(context, data.plan.embedding);
         return {};
       }},
  };
}

}  // namespace tessera::test
