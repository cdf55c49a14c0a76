#pragma once

#include "plan/builder.hpp"
#include "plan/context.hpp"
#include "layers/branch_norm/branch_norm.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;
class Witness;  // plan/witness.hpp

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
///
/// What an architecture says of it.
struct MlpSpec : ResidualEnd {
  Shape inner;  // (B,N,T)
  ParameterId w1{}, w2{};
  std::optional<ParameterId> b1, b2;
  int shift_1 = 0, shift_2 = 0, bias_shift_1 = 0, bias_shift_2 = 0;
  std::size_t table = 0;  // of the activation
  Integers u;             // what the branch reads
};

struct MlpPlan : MlpSpec {
  RecordedPair<std::int16_t> gelu;         // (z + 2^15, g)
  Recorded<std::int16_t> z;                // virtual
  RecordedRange<std::uint16_t> remainder;  // of z
  RecordedRange<std::uint16_t> out_remainder;

  static MlpPlan declare(Builder& builder, MlpSpec spec);
};

/// x_out, from batch.input().
void infer(const InferenceContext& context, const MlpPlan& mlp, std::span<const std::int32_t> gelu_table,
           std::size_t block, Batch& batch);
void derive(Witness& witness, const MlpPlan& mlp, Communicator& comm);

/// The claims on u: one.
template <class Side>
std::vector<WeightedClaimFor<Side>> run(Side& context, const MlpPlan& mlp);

}  // namespace tessera
