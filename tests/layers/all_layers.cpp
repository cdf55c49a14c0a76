#include "layers/embedding/embedding.hpp"
#include "layers/layer_norm/layer_norm.hpp"
#include "layers/logits/logits.hpp"
#include "layers/mlp/mlp.hpp"

#include "layer_case.hpp"

namespace tessera::testing {
namespace {

AttentionClaims head_claims(const LayerCase& data) {
  return {data.random_head_claim(data.witness.q, 31), data.random_head_claim(data.witness.k, 32),
          data.random_head_claim(data.witness.v, 33)};
}

std::vector<WeightedClaim> y_claims(const LayerCase& data) {
  return {data.random_claim(data.witness.y, data.plan.head_feature, 41),
          data.random_claim(data.witness.y, data.plan.head_feature, 42)};
}

struct Norm {
  LayerNormTensors tensors;
  IntegerTensor u;
};

Norm norm_before_attention(const LayerCase& data) {
  return {{&data.plan.ln1, data.plan.x_in, gamma1, beta1}, data.witness.u1};
}
Norm norm_before_mlp(const LayerCase& data) {
  return {{&data.plan.ln2, data.plan.x_mid, gamma2, beta2}, data.witness.u2};
}
Norm final_norm(const LayerCase& data) { return {{&data.plan.lnf, data.plan.x_end, gammaf, betaf}, data.witness.uf}; }

Layer layer_norm(const char* name, Norm (*norm_of)(const LayerCase&)) {
  const auto consumers = [](const LayerCase& data, const Norm& norm) -> std::vector<WeightedClaim> {
    return {data.random_claim(norm.u, norm.tensors.norm->activation, 51),
            data.random_claim(norm.u, norm.tensors.norm->activation, 52)};
  };
  return {name,
          [=](ProverContext& context, const LayerCase& data) {
            const Norm norm = norm_of(data);
            prove_layer_norm(context, norm.tensors, norm.u, consumers(data, norm));
          },
          [=](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
            const Norm norm = norm_of(data);
            verify_layer_norm(context, norm.tensors, consumers(data, norm));
            return {};
          }};
}

}  // namespace

std::vector<Layer> all_layers() {
  const auto attention = [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
    const AttentionClaims claims = verify_attention(context, y_claims(data));
    const Shape* shape = &data.plan.shapes.block_qkv;
    return {{data.witness.q, shape, data.unpadded(claims.q)},
            {data.witness.k, shape, data.unpadded(claims.k)},
            {data.witness.v, shape, data.unpadded(claims.v)}};
  };
  const auto logits = [](VerifierContext<E>& context, const LayerCase& data) {
    std::vector<Handed> handed;
    for (WeightedClaim& claim : verify_logits(context)) {
      handed.push_back({data.witness.uf, &data.plan.shapes.feature, std::move(claim)});
    }
    return handed;
  };
  return {
      {"logits", [](ProverContext& context, const LayerCase&) { prove_logits(context); }, logits},
      layer_norm("layer_norm_final", final_norm),
      {"mlp", [](ProverContext& context, const LayerCase&) { prove_mlp(context); },
       [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
         return {{data.witness.u2, &data.plan.shapes.block_feature, verify_mlp(context)}};
       }},
      layer_norm("layer_norm_2", norm_before_mlp),
      {"projection", [](ProverContext& context, const LayerCase&) { prove_output_projection(context); },
       [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
         return {{data.witness.y, &data.plan.head_feature, verify_output_projection(context)}};
       }},
      {"attention", [](ProverContext& context, const LayerCase& data) { prove_attention(context, y_claims(data)); },
       attention},
      {"qkv", [](ProverContext& context, const LayerCase& data) { prove_qkv(context, head_claims(data)); },
       [](VerifierContext<E>& context, const LayerCase& data) -> std::vector<Handed> {
         return {{data.witness.u1, &data.plan.shapes.block_feature, verify_qkv(context, head_claims(data))}};
       }},
      layer_norm("layer_norm_1", norm_before_attention),
      {"embedding", [](ProverContext& context, const LayerCase&) { prove_embedding(context); },
       [](VerifierContext<E>& context, const LayerCase&) -> std::vector<Handed> {
         verify_embedding(context);
         return {};
       }},
  };
}

}  // namespace tessera::testing
