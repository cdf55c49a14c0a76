#pragma once

#include "plan/context.hpp"

namespace tessera {

/// Several claims on virtual tensors T_1..T_n of one shape become one evaluation of each at a common point.
///
/// Statement: <w_i, T_(k(i))> = value_i for all claims i. Identity: sum_i gamma^i*value_i = sum_x sum_k T_k(x)*W_k(x),
/// W_k = sum over the claims on T_k of gamma^i*w_i (i counts all claims in order).
///   | # | from | message                                                              |
///   | 1 | V    | gamma (all values are absorbed before), if there are several claims  |
///   | 2 | P/V  | sum-check of sum_k T_k*W_k over the flat order, degree 2              |
///   | 3 | P    | T_k at the final point z; V checks sum_k T_k(z)*W_k(z) = final value |
/// Error: (number of claims + 2*variables)/|E|.
template <class S>
struct ReductionInputOf {
  Integers tensor;
  std::vector<WeightedClaimOf<S>> claims;
};
using ReductionInput = ReductionInputOf<E>;
template <class S>
struct ReducedClaimsOf {
  TensorPoint point;
  std::vector<S> values;  // T_k(point)
};
using ReducedClaims = ReducedClaimsOf<E>;

template <class S>
ReducedClaimsOf<S> reduce_claims(VerifierContext<S>& context, const Shape& shape,
                                 std::type_identity_t<std::span<const ReductionInputOf<S>>> inputs);
ReducedClaims reduce_claims(ProverContext& context, const Shape& shape, std::span<const ReductionInput> inputs);

/// The claims on one tensor.
template <class Side>
PointClaimFor<Side> reduce_claim(Side& context, const Shape& shape, const ReductionInputOf<ScalarFor<Side>>& input) {
  auto reduced = reduce_claims(context, shape, std::span(&input, 1));
  return {std::move(reduced.point), std::move(reduced.values.front())};
}

/// A committed tensor with a list of exceptions that is checked: the claim that its values are at their limits there
/// becomes one at a point, which is the last that the opening learns of it. Scope: the list's name.
template <class Side>
void check_limits(Side& context, ClampId list, TensorId tensor);

/// Summand of the reduction: factors T_1..T_n, W_1..W_n.
struct ReductionRelation {
  static constexpr bool homogeneous = true;
  static constexpr bool weighted = false;
  std::size_t tensors = 1;
  static constexpr std::size_t degree() { return 2; }
  [[nodiscard]] std::size_t factors() const { return 2 * tensors; }
  auto operator()(const auto& v) const {
    return sum_of(tensors, [&v, n = tensors](std::size_t k) { return v[k] * v[n + k]; });
  }
};
/// Vectors for up to three tensors.
RoundKernel round_kernel(const ReductionRelation& relation);

}  // namespace tessera
