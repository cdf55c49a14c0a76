#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <variant>

#include "layers/attention/attention.hpp"
#include "layers/cache/cache.hpp"
#include "layers/embedding/embedding.hpp"
#include "layers/gated_mlp/gated_mlp.hpp"
#include "layers/grouped_qkv/grouped_qkv.hpp"
#include "layers/layer_norm/layer_norm.hpp"
#include "layers/logits/logits.hpp"
#include "layers/mlp/mlp.hpp"
#include "layers/projection/projection.hpp"
#include "layers/qkv/qkv.hpp"
#include "layers/rms_norm/rms_norm.hpp"
#include "layers/stream_input/stream_input.hpp"

namespace tessera {

class Trace;              // plan/trace.hpp
struct ParameterTensors;  // plan/witness.hpp

/// Shapes of a model's activations. Dimensions: B block, F feature (tiled), T, Q, K token, query and key
/// (plan/passes.hpp), N MLP feature (tiled), S positions of a state (one chunk), V vocabulary, G generated tokens.
/// Heads with learned positions: H head, A the layout of q, k, v (chunks of a head if m is a power of two, else F), HM
/// head and place padded to a power of two. With rotary ones: G key/value head, J query head of its group, R half of a
/// head, I place in a half, P place in a head.
struct ModelShapes {
  Shape block_feature;       // (B,F,T)
  Shape feature;             // (F,T)
  Shape block_token;         // (B,T)
  Shape token;               // (T)
  std::array<Shape, 3> qkv;  // (B,A,T) each; (B,G,J,R,I,T), (B,G,R,I,T), (B,G,P,T)
  StateShapes sequence;      // keys and values that attention reads: qkv with all keys instead of T
  StateShapes state;         // qkv with S instead of T
  Shape block_row;           // (B,H,1,T); (B,G,J,T)
  Shape scores;              // (B,H,1,Q,K); (B,G,J,Q,K); causal
  Shape head_feature;        // (B,HM,T); (B,G,J,P,T)
  Shape block_inner;         // (B,N,T)
  Shape logits;              // (V,G)
  static ModelShapes of(const ModelShape& model, const Passes& passes, std::size_t generated,
                        const Division& division = {});
};

// What stands for a layer in a description.
using NormLayer = std::variant<LayerNormPlan, RmsNormPlan, StreamInput>;
using QkvLayer = std::variant<QkvPlan, GroupedQkvPlan>;
using MlpLayer = std::variant<MlpPlan, GatedMlpPlan>;

/// The plan of a model whose blocks are attention and MLP beside a residual stream: its layers in the order of
/// declaration, which is the order of the witness oracle. The model's description says which layers these are.
struct ModelPlan : Plan {
  ModelShape model;
  Exponents exponents;
  Widths widths;
  Shifts shifts;
  IntegerConstants constants;
  ModelShapes shapes;

  CommittedValue<std::int32_t> x_in, x_mid, x_end;  // residual stream: (B,F,T) twice, (F,T)
  NormLayer norm_1, norm_2, norm_final;             // norm_2 unused where the MLP reads what attention reads
  QkvLayer qkv;
  CachePlan cache;
  AttentionPlan attention;
  ProjectionPlan projection;
  MlpLayer mlp;
  LogitsPlan logits;
  EmbeddingPlan embedding;

  /// Throws InputError for a key that is not supported and for lengths that its model cannot have. `division`: of the
  /// ranks that prove, normally pass.division(ranks); messages do not depend on it.
  static ModelPlan of(const VerifyingKey& key, const PassShape& pass, const Division& division = {});
  static ModelPlan of(const VerifyingKey& key, std::size_t prompt_length, std::size_t generated,
                      const Division& division = {}) {
    return of(key, {.prompt = prompt_length, .generated = generated}, division);
  }
  /// The plan of a statement that so many ranks prove. Throws InputError for a key or lengths that are not supported,
  /// and for ids that the model does not have.
  static ModelPlan of(const VerifyingKey& key, const Statement& statement, int ranks = 1);
  /// Shapes of a state's two tensors: all keys, all values.
  static StateShapes state_shapes(const ModelShape& model);

  /// Adds what proofs under a hiding key commit to beside the layers' tensors, once these are packed. Throws InputError
  /// for what such keys do not prove.
  void hide(const VerifyingKey& key);

  [[nodiscard]] HeadLayout heads() const;
  /// The norms that the model has.
  [[nodiscard]] std::vector<const NormLayer*> norms() const;
  /// The rows of k and v that a rank has weights for.
  [[nodiscard]] Range key_rows(int rank, int ranks) const;
  [[nodiscard]] Range query_rows(int rank, int ranks) const;

 private:
  ModelPlan(const VerifyingKey& key, const PassShape& pass, const Division& division);
  void declare_cache(Builder& builder);
  void declare_attention(Builder& builder, std::size_t exp_table, std::optional<std::size_t> cap_table);
  void declare_stream(Builder& builder);
  void declare_norms(Builder& builder);
  void declare_projection(Builder& builder, const VerifyingKey& key);
  void declare_logits(Builder& builder, const VerifyingKey& key, std::size_t weights);
  void declare_embedding(Builder& builder);
};

/// What the branch behind a norm reads.
inline Integers input_of(const NormLayer& norm) {
  if (const auto* stream = std::get_if<StreamInput>(&norm)) {
    return stream->u;
  }
  const auto* layer = std::get_if<LayerNormPlan>(&norm);
  return (layer != nullptr ? layer->output() : std::get<RmsNormPlan>(norm).output()).values;
}
/// q, k, v.
inline const std::array<RecordedRange<std::int16_t>, 3>& values_of(const QkvLayer& qkv) {
  return std::visit(
      [](const auto& layer) -> const auto& { return layer.value; }, qkv);
}

/// A layer's run() for whichever it is.
template <class Context, class... Layers, class... Claims>
auto run(Context& context, const std::variant<Layers...>& layer, const Claims&... claims) {
  return std::visit([&](const auto& chosen) { return run(context, chosen, claims...); }, layer);
}

/// Which layers follow each other, for both sides: each takes the claims on its outputs and leaves claims on its
/// inputs, from the logits back to the embedding. All blocks are proven at once.
template <class Context>
void walk(Context& context, const ModelPlan& plan) {
  {
    const auto scope = context.transcript.scope("final");
    run(context, plan.norm_final, run(context, plan.logits));
  }
  auto read = [&] {
    const auto scope = context.transcript.scope("feed_forward");
    auto claims = run(context, plan.mlp);
    if (plan.model.layers.branches != Branches::shared_norm) {
      run(context, plan.norm_2, std::move(claims));
      claims.clear();
    }
    return claims;
  }();
  {
    const auto scope = context.transcript.scope("self_attention");
    const auto y = run(context, plan.projection);
    const auto heads = run(context, plan.attention, {y});
    auto claims = run(context, plan.qkv, run(context, plan.cache, heads));
    std::ranges::move(read, std::back_inserter(claims));
    run(context, plan.norm_1, claims);
  }
  run(context, plan.embedding);
}

/// Everything that the prover commits to or looks up. Collective. `out_of_range`: see count_multiplicities.
std::unique_ptr<Witness> make_witness(const ModelPlan& plan, const Statement& statement, const Trace& trace,
                                      const ParameterTensors& parameters, Communicator& comm,
                                      OutOfRange out_of_range = OutOfRange::refuse);

}  // namespace tessera
