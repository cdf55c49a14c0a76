#pragma once

#include "subprotocols/norm.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;

/// RMS norm over features, all blocks at once: V = S2 + eps', S2 = sum x^2, sigma = floor(sqrt(V)),
/// I = floor(C*2^xi/sigma), A = x*I*Gamma, u = rshift(A, S). The layer norm without mean and bias.
///
/// Statement: the claims on u (its look-up and its consumers). Points: r = where the reduction of u ends, t = the
/// look-up point of the per-token columns.
///   | # | from | message                                                                                       |
///   | 1 | P/V  | reduction of the claims on u to u(r); requantization gives A(r)                                |
///   | 2 | P    | S2(t)                                                                                          |
///   | 3 | P/V  | inverse root (subprotocols/norm.hpp) with V(t) = S2(t) + eps'*Pres: claims on sigma and I       |
///   | 4 | P/V  | normalization (subprotocols/norm.hpp) of A(r) and S2(t)                                        |
///
/// What an architecture says of one RMS norm.
using RmsNormSpec = NormSpec;

/// One RMS norm of a plan.
struct RmsNormPlan : RmsNormSpec, NormOutput {
  static RmsNormPlan declare(Builder& builder, RmsNormSpec spec);
};

/// u and what is recorded of it, for the tokens of a batch. `block` is 0 for a final norm.
void infer(const InferenceContext& context, const RmsNormPlan& norm, std::size_t block, Batch& batch);
/// The remainders and complements. Collective.
void derive(Witness& witness, const RmsNormPlan& norm, Communicator& comm);

/// `consumers`: claims on u besides its look-up.
template <class Side>
void run(Side& context, const RmsNormPlan& norm, std::vector<WeightedClaimFor<Side>> consumers);

}  // namespace tessera
