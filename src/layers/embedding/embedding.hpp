#pragma once

#include "plan/builder.hpp"
#include "plan/context.hpp"

#include <optional>

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;

/// Embedding and positions: x_in of block 0 = E[token] + P[position] (+ nothing else), or without positions
/// rshift(E[token], S). Sources: seeds embeddings_protocol and positional_encoding. R = H*E with the public one-hot H:
/// R(r_f, r_t) is the claim on E with weight H(r_t, .) along the vocabulary, whose sum-check is the opening's; the
/// sub-matrix of the rows' positions is a weight, too.
/// p = look-up point of (B,F,T) without its block, if S > 0 of (F,T), where the remainder is known.
///   | # | from | message                                                                         |
///   | 1 | P    | x_in(0, p_f, p_t): claim                                                          |
///   | 2 | P    | P at the rows' positions, p_f: claim, if there are positions                      |
///   | 3 | -    | x_in - P, or 2^S*x_in + rem - 2^(S-1)*Pres, is the claim on E with weight H(p_t, .) |
///
/// What an architecture says of it.
struct EmbeddingSpec {
  Shape feature;                        // (B,F,T)
  Shape rows;                           // (F,T), if there is a shift
  ParameterId embedding{};              // (V,F)
  std::optional<ParameterId> position;  // (P,F)
  Dimension vocabulary, positions;
  CommittedValue<std::int32_t> x_in;
  int shift = 0;  // S; not both positions and a shift
};

struct EmbeddingPlan : EmbeddingSpec {
  RecordedRange<std::uint16_t> remainder;  // if there is a shift

  static EmbeddingPlan declare(Builder& builder, EmbeddingSpec spec);
};

/// batch.x: rows of the tokens and of their positions; positions that the model does not have are zero, a
/// continuation's the last one. Collective.
void infer(const InferenceContext& context, const EmbeddingPlan& embedding, std::span<const std::uint32_t> ids,
           Batch& batch);

template <class Side>
void run(Side& context, const EmbeddingPlan& embedding);

/// The weight along positions of a point on rows: beta(row, i) at past + i for i < rows; filler behind the last
/// position has none in a beginning, in a continuation that one's.
Factor row_positions(const Dimension& positions, std::size_t past, std::size_t rows, const Point& row);
/// Weights of the claims at the point `at` of (B,F,T), of which the block is not read.
struct EmbeddingWeights {
  std::vector<Factor> input;      // on x_in: block 0
  std::vector<Factor> position;   // on P; empty: there are none
  std::vector<Factor> embedding;  // on E
};
EmbeddingWeights embedding_weights(const Plan& plan, const EmbeddingPlan& embedding, const Statement& statement,
                                   const TensorPoint& at);
/// p as a point of (B,F,T).
TensorPoint embedding_point(const EmbeddingPlan& embedding, const auto& lookup) {
  TensorPoint at = lookup.point(embedding.shift > 0 ? embedding.rows : embedding.feature);
  if (embedding.shift > 0) {
    at.insert(at.begin(), Point(embedding.feature.dimensions()[0].bits()));
  }
  return at;
}

/// Ids of the rows: a continuation's last token, prompt, generated (not a continuation's last one), filler.
std::vector<std::uint32_t> row_tokens(const Plan& plan, const Statement& statement);

}  // namespace tessera
