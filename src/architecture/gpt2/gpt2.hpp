#pragma once

#include <memory>

#include "layers/attention/attention.hpp"
#include "layers/cache/cache.hpp"
#include "layers/embedding/embedding.hpp"
#include "layers/layer_norm/layer_norm.hpp"
#include "layers/logits/logits.hpp"
#include "layers/mlp/mlp.hpp"
#include "layers/projection/projection.hpp"
#include "layers/qkv/qkv.hpp"

namespace tessera {

class Trace;              // plan/trace.hpp
struct ParameterTensors;  // plan/witness.hpp

/// Shapes of GPT-2's activations over s_hat = 2^ceil(log2 s) tokens. Dimensions: B block, F feature (tiled), H head,
/// A the layout of q, k, v (chunks of a head if m is a power of two, else F), HM head and place padded to a power of
/// two, N MLP feature (tiled), T token (one chunk), Q query tiles of min(s_hat, 128), K key tiles of min(128, all
/// keys), S positions of a state (one chunk), V vocabulary, G generated tokens (one chunk).
struct Gpt2Shapes {
  Shape block_feature;   // (B,F,T)
  Shape feature;         // (F,T)
  Shape block_token;     // (B,T)
  Shape token;           // (T)
  Shape block_qkv;       // (B,A,T)
  Shape block_row;       // (B,H,T)
  Shape sequence;        // (B,A,keys): all that attention reads
  Shape sequence_heads;  // (B,HM,keys)
  Shape state;           // (B,A,S)
  Shape scores;          // (B,H,Q,K), causal
  Shape head_feature;    // (B,HM,T)
  Shape block_inner;     // (B,N,T)
  Shape logits;          // (V,G)
  static Gpt2Shapes of(const ModelShape& model, std::size_t past, std::size_t padded_tokens, std::size_t generated);
};

/// The plan of a GPT-2 model: its layers in the order of declaration, which is the order of the witness oracle.
struct Gpt2Plan : Plan {
  ModelShape model;
  Exponents exponents;
  IntegerConstants constants;
  Gpt2Shapes shapes;

  CommittedValue<std::int32_t> x_in, x_mid, x_end;  // residual stream: (B,F,T) twice, (F,T)
  LayerNormPlan norm_1, norm_2, norm_final;
  QkvPlan qkv;
  CachePlan cache;
  AttentionPlan attention;
  ProjectionPlan projection;
  MlpPlan mlp;
  LogitsPlan logits;
  EmbeddingPlan embedding;

  /// Throws InputError for a key that is not supported and for lengths that its model cannot have.
  static Gpt2Plan of(const VerifyingKey& key, const PassShape& pass);
  static Gpt2Plan of(const VerifyingKey& key, std::size_t prompt_length, std::size_t generated) {
    return of(key, {.prompt = prompt_length, .generated = generated});
  }
  /// The same for a statement, whose ids are checked too.
  static Gpt2Plan of(const VerifyingKey& key, const Statement& statement);
  /// Shape of all keys, and of all values, of a state: (B,A,S).
  static Shape state_shape(const ModelShape& model);

 private:
  Gpt2Plan(const VerifyingKey& key, const PassShape& pass);
  void declare_layer_norms(Builder& builder);
  void declare_attention(Builder& builder, std::size_t exp_table);
  void declare_mlp(Builder& builder, std::size_t gelu_table);
};

/// Which layers follow each other, for both sides: each takes the claims on its outputs and leaves claims on its
/// inputs, from the logits back to the embedding. All blocks are proven at once.
template <class Context>
void walk(Context& context, const Gpt2Plan& plan) {
  {
    const auto scope = context.transcript.scope("final");
    run(context, plan.norm_final, run(context, plan.logits));
  }
  {
    const auto scope = context.transcript.scope("feed_forward");
    run(context, plan.norm_2, {run(context, plan.mlp)});
  }
  {
    const auto scope = context.transcript.scope("self_attention");
    const auto y = run(context, plan.projection);
    const auto heads = run(context, plan.attention, {y});
    run(context, plan.norm_1, {run(context, plan.qkv, run(context, plan.cache, heads))});
  }
  run(context, plan.embedding);
}

/// Everything that the prover commits to or looks up. Collective. `strangers`: see count_multiplicities.
std::unique_ptr<Witness> make_witness(const Gpt2Plan& plan, const Statement& statement, const Trace& trace,
                                      const ParameterTensors& parameters, Communicator& comm,
                                      Strangers strangers = Strangers::refuse);

}  // namespace tessera
