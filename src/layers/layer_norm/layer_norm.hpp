#pragma once

#include "subprotocols/norm.hpp"

namespace tessera {

struct InferenceContext;  // subprotocols/inference.hpp
struct Batch;

/// Layer norm over features, all blocks at once: mu = floor((S1 + floor(d/2))/d), V = S2 - 2*mu*S1 + d*mu^2 + eps',
/// sigma = floor(sqrt(V)), I = floor(C*2^xi/sigma), A = (x - mu)*I*Gamma + B*2^b, u = rshift(A, S).
///
/// Statement: the claims on u (its look-up and its consumers). Points: r = where the reduction of u ends, t = the
/// look-up point of the per-token columns.
///   | # | from | message                                                                                          |
///   | 1 | P/V  | reduction of the claims on u to u(r); requantization gives A(r)                                   |
///   | 2 | P    | B(r_b, r_f): claim; S1(t): claim on x with weight one on features; S2(t)                          |
///   | - | V    | checks d-1-rho_mu, 2*sigma-(V-sigma^2), sigma-1-rho_I against their complements at t;              |
///   |   |      | rho_mu(t) = S1(t) + floor(d/2)*Pres - d*mu(t)                                                     |
///   | 3 | P/V  | lambda; eq sum-check at t over (block, token), degree 2:                                           |
///   |   |      | (V-sigma^2)(t) - S2(t) - eps'*Pres + lambda*(C*2^xi*Pres - rho_I(t))                               |
///   |   |      |   = sum beta(t,.)*(d*mu^2 - 2*mu*S1 - sigma^2 + lambda*I*sigma)                                    |
///   | 4 | P    | mu, sigma, I and S1 (x with weight one on features) at its end: claims                            |
///   | 5 | P/V  | normalization (subprotocols/norm.hpp) of A(r) - 2^b*B(r)*Pres_T(r) and S2(t)                       |
///
/// What an architecture says of one layer norm.
struct LayerNormSpec : NormSpec {
  ParameterId beta{};
  int bias_shift = 0;          // beta*2^b
  unsigned residual_bits = 0;  // of mu, signed
};

/// One layer norm of a plan. mu, sigma, I and what follows from them are per token and replicated; u lies with the
/// features of x.
struct LayerNormPlan : LayerNormSpec, NormOutput {
  CommittedValue<std::int32_t> mu;               // w_x bits, signed
  DerivedRange mean_remainder, mean_complement;  // rho_mu, d-1-rho_mu

  static LayerNormPlan declare(Builder& builder, LayerNormSpec spec);
};

/// u and what is recorded of it, for the tokens of a batch. `block` is 0 for a final norm.
void infer(const InferenceContext& context, const LayerNormPlan& norm, std::size_t block, Batch& batch);
/// The remainders and complements. Collective.
void derive(Witness& witness, const LayerNormPlan& norm, Communicator& comm);

/// `consumers`: claims on u besides its look-up.
template <class Side>
void run(Side& context, const LayerNormPlan& norm, std::vector<WeightedClaimFor<Side>> consumers);

/// Factors mu, S1, sigma, I: d*mu^2 - 2*mu*S1 - sigma^2 + lambda*I*sigma.
struct TokenRelation {
  static constexpr bool homogeneous = true;
  F features;  // d
  E lambda;
  static constexpr std::size_t degree() { return 2; }
  static constexpr std::size_t factors() { return 4; }
  auto operator()(const auto& v) const {
    const auto &mu = v[0], &sum = v[1], &sigma = v[2], &inverse = v[3];
    return mu * (mu * features - sum - sum) + sigma * (lambda * inverse - sigma);
  }
};
RoundKernel round_kernel(const TokenRelation& relation);

}  // namespace tessera
