#pragma once

#include "plan/builder.hpp"
#include "plan/context.hpp"
#include "layers/branch_norm/branch_norm.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;
class Witness;  // plan/witness.hpp

/// Residual branch and gated MLP: x_out - x_mid = rshift(W_down*t, S), t = rshift(a*U, S_t), a = ACT[z],
/// z = rshift(W_gate*u, S_z), U = W_up*u, which is never rounded by itself. z and t have gate_bits and product_bits
/// bits, signed; |a| is up to most_activation().
///
/// Points: p = look-up point of (B,F,T), n = of (B,N,T). A is rq(t, rem, S_t), the left side of t's rounding: a*U as a
/// tensor. Two claims on it become one sum-check, so that t needs no reduction.
///   | # | from | message                                                                                     |
///   | 1 | P    | x_in shifted by one block at p, x_end(p_f, p_t): claims; with x_mid(p) they give the update     |
///   | - | P/V  | a norm behind the branch: its steps (layers/branch_norm) lead to another point in place of p     |
///   | 2 | P/V  | matrix product W_down; its input is t(m), m = (its end, p_t)                                    |
///   | 3 | P    | the pieces of t's remainder at m: claims; A(m) from them, A(n) from the look-up                 |
///   | 4 | V    | gamma                                                                                           |
///   | 5 | P/V  | sum-check over (block, inner, token), degree 3:                                                  |
///   |   |      | A(n) + gamma*A(m) = sum (beta(n,.) + gamma*beta(m,.))*a*U                                       |
///   | 6 | P    | a at its end: claim; U at its end                                                               |
///   | 7 | P/V  | matrix product W_up there; its input is returned: the first claim on u                          |
///   | 8 | P/V  | matrix product W_gate; z(n) and its remainder are known from the look-up; its input is          |
///   |   |      | returned: the second claim on u                                                                 |
/// Error: (1 + 3*variables)/|E| of 4 and 5, and the matrix products'.
///
/// What an architecture says of it.
struct GatedMlpSpec : ResidualEnd {
  Shape inner;  // (B,N,T)
  ParameterId gate{}, up{}, down{};
  int shift_gate = 0, shift_product = 0, shift_down = 0;
  unsigned product_bits = 16;               // w_t
  unsigned gate_bits = 16;                  // w_z
  std::size_t table = 0;                    // of the activation
  Integers u;                               // what the branch reads
  std::optional<BranchNormSpec> norm = {};  // behind the branch
};

struct GatedMlpPlan : GatedMlpSpec {
  RecordedPair<std::int32_t> activation;        // (z + 2^(gate_bits-1), a)
  Recorded<std::int32_t> z;                     // virtual
  RecordedRange<std::uint16_t> gate_remainder;  // of z
  /// U, virtual. Recorded because the sum-check reads it in the order of (B,N,T) when weights lie in chunks and u in
  /// other ranks' hands; t's remainder, as wide, is not recorded but computed from it.
  Recorded<std::int64_t> up_sum;
  RecordedRange<std::int32_t> product;  // t
  RangeId product_remainder;
  RecordedRange<std::uint16_t> out_remainder;  // where there is no norm behind
  std::optional<BranchNorm> normed;

  static GatedMlpPlan declare(Builder& builder, GatedMlpSpec spec);
};

/// x_out, from batch.input().
void infer(const InferenceContext& context, const GatedMlpPlan& mlp, std::span<const std::int32_t> table,
           std::size_t block, Batch& batch);
/// Collective.
void derive(Witness& witness, const GatedMlpPlan& mlp, Communicator& comm);

/// The claims on u: of W_up, then of W_gate.
template <class Side>
std::vector<WeightedClaimFor<Side>> run(Side& context, const GatedMlpPlan& mlp);

}  // namespace tessera
