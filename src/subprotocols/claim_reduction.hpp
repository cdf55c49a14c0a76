#pragma once

#include "sumcheck/vector_form.hpp"
#include "plan/context.hpp"

namespace tessera {

/// Several claims on virtual tensors T_1..T_n of one shape become one evaluation of each at a common point.
///
/// Statement: <w_i, T_(k(i))> = value_i for all claims i. Identity: sum_i gamma^i*value_i = sum_x sum_k T_k(x)*W_k(x),
/// W_k = sum over the claims on T_k of gamma^i*w_i (i counts all claims in order).
///   | # | from | message                                                              |
///   | 1 | V    | gamma (all values are absorbed before)                               |
///   | 2 | P/V  | sum-check of sum_k T_k*W_k over the flat order, degree 2              |
///   | 3 | P    | T_k at the final point z; V checks sum_k T_k(z)*W_k(z) = final value |
/// Error: (number of claims + 2*variables)/|E|.
struct ReductionInput {
  std::vector<WeightedClaim> claims;
};
struct ReducedClaims {
  TensorPoint point;
  std::vector<E> values;  // T_k(point); the prover leaves it empty
};

ReducedClaims verify_claim_reduction(VerifierTranscript& transcript, const Shape& shape,
                                     std::span<const ReductionInput> tensors);
ReducedClaims prove_claim_reduction(ProverContext& context, const Shape& shape, std::span<const IntegerTensor> tensors,
                                    std::span<const ReductionInput> inputs);

/// Summand of the reduction: factors T_1..T_n, W_1..W_n.
struct ReductionRelation {
  static constexpr bool homogeneous = true;
  std::size_t tensors = 1;
  [[nodiscard]] std::size_t degree() const { return 2; }
  [[nodiscard]] std::size_t factors() const { return 2 * tensors; }
  E operator()(std::span<const E> v) const {
    E sum = v[0] * v[tensors];
    for (std::size_t k = 1; k < tensors; ++k) {
      sum += v[k] * v[tensors + k];
    }
    return sum;
  }
  [[nodiscard]] VectorForm vector_form() const { return {VectorForm::Kind::products, tensors, {}}; }
};

}  // namespace tessera
