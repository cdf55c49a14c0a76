#pragma once

#include "plan/context.hpp"

namespace tessera {

/// Residual branch and MLP: x_out - x_mid = rshift(W2*g + b2*2^b, S2), g = GELU[z], z = rshift(W1*u + b1*2^b, S1),
/// where x_out of block b is x_in of block b+1, and x_end for the last block.
///
/// Points: p = look-up point of (B,F,T), n = of (B,N,T).
///   | # | from | message                                                                                    |
///   | 1 | P    | x_in shifted by one block at p, x_end(p_f, p_t): claims; with x_mid(p) they give the update    |
///   | 2 | P    | b2(p_b, p_f): claim                                                                          |
///   | 3 | P/V  | matrix product W2; its input is a claim on g                                                 |
///   | 4 | P    | b1(n_b, n_n): claim; z(n) and its remainder are known from the look-up                        |
///   | 5 | P/V  | matrix product W1; its input is returned: a claim on u                                        |
WeightedClaim verify_mlp(VerifierContext& context);
WeightedClaim prove_mlp(ProverContext& context);

/// The weight along the block dimension that reads x_in one block later: head[b+1] = beta(point, b) for b < L-1.
Factor next_block(const Point& block, std::size_t blocks);

/// Output projection and its residual: x_mid - x_in = rshift(W_O*y + b_O*2^b, S), y unpadded. Returns the claim on y in
/// the padded head layout.
///   | # | from | message                                                   |
///   | 1 | P    | b_O(p_b, p_f): claim                                       |
///   | 2 | P/V  | matrix product W_O; its input, through U, is the claim on y |
WeightedClaim verify_output_projection(VerifierContext& context);
WeightedClaim prove_output_projection(ProverContext& context);

}  // namespace tessera
