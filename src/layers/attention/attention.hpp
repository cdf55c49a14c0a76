#pragma once

#include "base/range.hpp"
#include "plan/builder.hpp"
#include "plan/context.hpp"
#include "subprotocols/head_padding.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;
class Witness;  // plan/witness.hpp
struct QkvCache;

/// Causal multi-head attention with the soft-max between its two products, all blocks and heads at once.
/// Source: seed multi_head_attention; soft-max by look-ups as in the integer transformer.
///
///   z = rshift(Z∘A, S), A = q*k^T, Z_ij = [j <= past + i];  d = M - z + INF*(1-Z), e = EXP[d];  D_i = sum_j e_ij;
///   R = floor(2^46/D);  O = e*v;  y = rshift(O*R, 46).
///
/// Statement: the claims on y (look-up, consumer). Points: w = look-up point of (B,H,T) rows, p = of the scores.
///   | # | from | message                                                                                  |
///   | 1 | P/V  | reduction of the claims on y to y(r); requantization (3 pieces) gives (O*R)(r)           |
///   | 2 | P/V  | eq sum-check at r of O*R over (B, H*m, T), degree 2; P: O(a), R(a): claim on R           |
///   | 3 | P    | D(w) as a claim on e with weight one on keys; V: D(w) = 2^kappa*A'(w) + (T-1)(w) + Pres, |
///   |   |      | D - 1 - rho_R against its complement                                                     |
///   | 4 | P/V  | eq sum-check at w of R*D = 2^46*Pres - rho_R over (B,H,T), degree 2; P: R, D at its end: |
///   |   |      | claims                                                                                   |
///   | 5 | P/V  | values, over (b,h,j), degree 3: O(a) = sum of                                            |
///   |   |      | beta(a_b,b)*beta(a_h,h)*e(b,h,a_t,j)*v(b,h,a_m,j); P: e: claim, v                        |
///   | 6 | P    | sum_Q beta(p_Q,Q)*[sum_{K<=Q+ahead} beta(p_K,K)]*M(p_b,p_h,Q,p_i): claim on M; gives z(p),     |
///   |   |      | then (Z∘A)(p)                                                                            |
///   | 7 | P/V  | masking: eq sum-check at p of Z*A over scores, degree 2; P: A(c); V evaluates Z(c)       |
///   | 8 | P/V  | scores, over (b,x), degree 3: A(c) = sum of                                              |
///   |   |      | beta(c_b,b)*beta(c_h,head(x))*q(b,x,c_q)*k(b,x,c_k); P: q, k                             |
/// Returns the claims on padded q (dimensions B, head and place, T) and on k, v (the same with all keys).
/// Every entry of e but e(0) is a multiple of 2^kappa, so T = D mod 2^kappa counts the keys with d = 0, and T-1 >= 0
/// says that there is one; with d >= 0 everywhere M is the maximum.
///
/// What an architecture says of it.
struct AttentionSpec {
  HeadLayout heads;
  Shape qkv;              // (B,A,T): of q
  Shape sequence;         // (B,A,keys): of k and v
  Shape sequence_heads;   // (B,HM,keys)
  std::size_t past = 0;   // query i sees the keys up to past + i
  Shape scores;           // (B,H,Q,K), causal; Q and K in tiles
  Shape rows;             // (B,H,T): one entry a query
  Shape head_feature;     // (B,H*m_hat,T)
  std::size_t table = 0;  // of EXP
  unsigned kappa = 0;
  int score_shift = 0;
  unsigned key_bits = 0;  // log2 of the padded number of keys
  Recorded<std::int16_t> q, k, v;
};

struct AttentionPlan : AttentionSpec {
  RecordedPair<std::int32_t> exponential;                // (distance, e)
  Recorded<std::int16_t> score;                          // z; 0 above the diagonal
  RecordedRange<std::uint16_t> score_remainder;          // of rshift(Z*A, S)
  CommittedValue<std::int16_t> row_max;                  // M
  CommittedValue<std::int32_t> row_inverse;              // R
  DerivedRange division_remainder, division_complement;  // rho_R, D - 1 - rho_R
  CommittedDerived row_sum_quotient;                     // A'
  DerivedRange maximum_count;                            // T - 1
  RecordedRange<std::int16_t> y;
  RecordedRange<std::int64_t> y_remainder;
  Recorded<std::int64_t> row_sum;    // D, virtual
  Recorded<std::int64_t> value_sum;  // O, virtual

  static AttentionPlan declare(Builder& builder, AttentionSpec spec);
};

/// y of all heads (features, batch.size), from q, k and v of the sequence so far.
std::vector<std::int16_t> infer(const InferenceContext& context, const AttentionPlan& attention,
                                std::span<const std::int32_t> exp_table, const QkvCache& cache, std::size_t block,
                                const Batch& batch);
void derive(Witness& witness, const AttentionPlan& attention);

template <class S>
struct AttentionClaimsOf {
  PointClaimOf<S> q, k, v;
};
using AttentionClaims = AttentionClaimsOf<E>;

template <class S>
AttentionClaimsOf<S> run(VerifierContext<S>& context, const AttentionPlan& attention,
                         std::type_identity_t<std::vector<WeightedClaimOf<S>>> y_consumers);
AttentionClaims run(ProverContext& context, const AttentionPlan& attention, std::vector<WeightedClaim> y_consumers);

/// A point of (B, head and place, T) as the (B, H, T) row that it lies in.
TensorPoint row_point(const TensorPoint& point, unsigned head_bits);
/// The weight on e that makes it D at a (B, H, T) point: one on every key.
std::vector<Factor> row_sum_weight(const TensorPoint& row, unsigned key_bits);
/// The weight along the token dimension of M in step 6: head Q -> beta(p_Q,Q)*sum_{K<=Q+ahead} beta(p_K,K), tail p_i.
Factor masked_row_weight(const Shape& scores, const TensorPoint& point);
/// The multilinear extension, at a point of the scores, of the places above the diagonal in present tiles.
E masked_places(const AttentionPlan& attention, const TensorPoint& point);

}  // namespace tessera
