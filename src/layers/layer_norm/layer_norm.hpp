#pragma once

#include "sumcheck/vector_form.hpp"
#include "plan/context.hpp"

namespace tessera {

/// Layer norm over features, all blocks at once: mu = floor((S1 + floor(d/2))/d), V = S2 - 2*mu*S1 + d*mu^2 + eps',
/// sigma = floor(sqrt(V)), I = floor(C*2^14/sigma), A = (x - mu)*I*Gamma + B*2^b, u = rshift(A, S).
///
/// Statement: the claims on u (its look-up and its consumers). Points: r = where the reduction of u ends, t = the
/// look-up point of the per-token columns.
///   | # | from | message                                                                                          |
///   | 1 | P/V  | reduction of the claims on u to u(r); requantization gives A(r)                                   |
///   | 2 | P    | B(r_b, r_f): claim; S1(t): claim on x with weight one on features; S2(t)                          |
///   | - | V    | checks d-1-rho_mu, 2*sigma-(V-sigma^2), sigma-1-rho_I against their complements at t;              |
///   |   |      | rho_mu(t) = S1(t) + floor(d/2)*Pres - d*mu(t)                                                     |
///   | 3 | P/V  | lambda; eq sum-check at t over (block, token), degree 2:                                           |
///   |   |      | (V-sigma^2)(t) - S2(t) - eps'*Pres + lambda*(C*2^14*Pres - rho_I(t))                               |
///   |   |      |   = sum beta(t,.)*(d*mu^2 - 2*mu*S1 - sigma^2 + lambda*I*sigma)                                    |
///   | 4 | P    | mu, sigma, I and S1 (x with weight one on features) at its end: claims                            |
///   | 5 | P/V  | lambda; sum-check over (block, feature, token), degree 4:                                          |
///   |   |      | A(r) - 2^b*B(r) + lambda*S2(t) = sum beta(r,.)*(x - mu)*I*Gamma + lambda*beta(t,.)*x^2            |
///   | 6 | P    | x, mu, I, Gamma at its end: claims                                                                |
/// (x - mu needs no Pres: Gamma is zero on absent features.)
struct LayerNormTensors {
  const LayerNormPlan* norm = nullptr;
  TensorId x = 0;
  ParameterId gamma = gamma1;
  ParameterId beta = beta1;
};

/// `consumers`: claims on u besides its look-up.
void verify_layer_norm(VerifierContext& context, const LayerNormTensors& tensors, std::vector<WeightedClaim> consumers);
void prove_layer_norm(ProverContext& context, const LayerNormTensors& tensors, const IntegerTensor& u,
                      std::vector<WeightedClaim> consumers);

/// A point of (.., feature, token) without its feature coordinates.
TensorPoint without_feature(const TensorPoint& point);
/// The weight that sums x over all features at a (.., token) point: S1 there.
std::vector<Factor> feature_sum(const Shape& activation, const TensorPoint& token);

/// Factors mu, S1, sigma, I: d*mu^2 - 2*mu*S1 - sigma^2 + lambda*I*sigma.
struct TokenRelation {
  F features;  // d
  E lambda;
  [[nodiscard]] std::size_t degree() const { return 2; }
  [[nodiscard]] std::size_t factors() const { return 4; }
  E operator()(std::span<const E> v) const {
    const E& mu = v[0];
    const E& sigma = v[2];
    return mu * (mu * features - v[1] - v[1]) + sigma * (lambda * v[3] - sigma);
  }
};

/// Factors beta(r,.), x, mu, I, Gamma, beta(t,.): beta(r,.)*(x-mu)*I*Gamma + lambda*beta(t,.)*x^2.
struct NormRelation {
  E lambda;
  [[nodiscard]] std::size_t degree() const { return 4; }
  [[nodiscard]] std::size_t factors() const { return 6; }
  E operator()(std::span<const E> v) const { return v[0] * (v[1] - v[2]) * v[3] * v[4] + lambda * v[5] * v[1] * v[1]; }
  [[nodiscard]] VectorForm vector_form() const { return {VectorForm::Kind::norm, 1, lambda}; }
};

}  // namespace tessera
