#pragma once

#include "plan/context.hpp"

namespace tessera {

/// Causal multi-head attention with the soft-max between its two products, all blocks and heads at once.
/// Source: seed multi_head_attention; soft-max by look-ups as in the integer transformer.
///
///   z = rshift(Z∘A, S), A = q*k^T, Z_ij = [j <= i];  d = M - z + INF*(1-Z), e = EXP[d];  D_i = sum_j e_ij;
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
///   | 6 | P    | sum_Q beta(p_Q,Q)*[sum_{K<=Q} beta(p_K,K)]*M(p_b,p_h,Q,p_i): claim on M; gives z(p),     |
///   |   |      | then (Z∘A)(p)                                                                            |
///   | 7 | P/V  | masking: eq sum-check at p of Z*A over scores, degree 2; P: A(c); V evaluates Z(c)       |
///   | 8 | P/V  | scores, over (b,x), degree 3: A(c) = sum of                                              |
///   |   |      | beta(c_b,b)*beta(c_h,head(x))*q(b,x,c_q)*k(b,x,c_k); P: q, k                             |
/// Returns the claims on padded q, k, v (dimensions B, head and place, T).
/// Every entry of e but e(0) is a multiple of 2^kappa, so T = D mod 2^kappa counts the keys with d = 0, and T-1 >= 0
/// says that there is one; with d >= 0 everywhere M is the maximum.
struct AttentionClaims {
  PointClaim q, k, v;
};

AttentionClaims verify_attention(VerifierContext& context, std::vector<WeightedClaim> y_consumers);
AttentionClaims prove_attention(ProverContext& context, std::vector<WeightedClaim> y_consumers);

/// A point of (B, head and place, T) as the (B, H, T) row that it lies in.
TensorPoint row_point(const TensorPoint& point, unsigned head_bits);
/// The weight on e that makes it D at a (B, H, T) point: one on every key.
std::vector<Factor> row_sum_weight(const TensorPoint& row);
/// The weight along the token dimension of M in step 6: head Q -> beta(p_Q,Q)*sum_{K<=Q} beta(p_K,K), tail p_i.
Factor masked_row_weight(const Shape& scores, const TensorPoint& point);
/// The multilinear extension, at a point of the scores, of the places above the diagonal in present tiles.
E masked_places(const Shape& scores, const TensorPoint& point);

}  // namespace tessera
