#pragma once

#include "layers/attention/attention.hpp"

namespace tessera {

/// Q, K, V projections: q = rshift(W_Q*u + b_Q*2^b, S) and so on. Source: seed qkv, equation (1); claims on the padded
/// heads (seed multi_head_attention, "Prove Proper Padding") join the reduction as weights.
///   | # | from | message                                                                              |
///   | 1 | P/V  | reduction of all claims on q, k, v (look-up, attention) to one point r                |
///   | 2 | P    | remainders of q, k, v at r, biases at (r_b, r_a): claims                               |
///   | 3 | P/V  | one batched matrix product with W_Q, W_K, W_V; its input is returned: a claim on u     |
WeightedClaim verify_qkv(VerifierContext& context, const AttentionClaims& claims);
WeightedClaim prove_qkv(ProverContext& context, const AttentionClaims& claims);

}  // namespace tessera
