#pragma once

#include "plan/context.hpp"

namespace tessera {

/// The committed products of pads are products, of the pads that they are said to be of (hiding mode).
///
/// Statement: left(k)*right(k) = product(k) for all k < 2^n; the k-th pair's factors are its two pads.
///   | # | from | message                                                                     |
///   | 1 | V    | tau, n of them                                                              |
///   | 2 | P/V  | eq sum-check at tau of left*right - product, degree 2, target 0; padded     |
///   | 3 | P    | left(r), right(r) at its end: claims, in clear: a random pair hides them    |
///   | 4 | P    | product(r): claim, padded                                                   |
/// The constraints left(k) = pad, right(k) = pad are left to the opening. Error: 4*n/|E|.
void verify_pad_products(VerifierContext<Affine>& context);
/// `left`, `right`: with the random pair at the end. Transcript: padded.
void prove_pad_products(ProverContext& context, const std::vector<E>& left, const std::vector<E>& right);

/// Factors left, right, product.
struct PadProductRelation {
  static constexpr std::size_t degree() { return 2; }
  static constexpr std::size_t factors() { return 3; }
  auto operator()(const auto& v) const { return v[0] * v[1] - v[2]; }
};
RoundKernel round_kernel(const PadProductRelation& relation);

/// <w, T> of a tensor of cells in E at a point of its first dimension.
std::vector<Factor> cell_weight(const Point& point);

}  // namespace tessera
