#pragma once

#include "plan/context.hpp"
#include "subprotocols/head_padding.hpp"

namespace tessera {

/// Stacked matrix products that share their input: Y_k(b,o,t) = sum_i W_k(b,o,i)*X(b,i,t), k = 1..n (one matrix, or Q,
/// K and V). Source: seed qkv, equation (1), with all blocks at once.
///
/// Both o and i may be several dimensions: a weight is (block, out.., in..), a point of Y (block, out.., token), and i
/// the natural index over the in dimensions, whose joined coordinates the returned claim has.
///
/// Statement: Y_k(r_b, r_o, r_t) = value_k. Identity:
/// sum_k lambda^(k-1)*value_k = sum_{b,i} beta(r_b,b) * X(b,i,r_t) * sum_k lambda^(k-1)*W_k(b,r_o,i).
///   | # | from | message                                                                    |
///   | 1 | V    | lambda, if n > 1 (all values are absorbed before)                          |
///   | 2 | P/V  | sum-check over (block, in), natural order, degree 3                         |
///   | 3 | P    | W_k(z_b, r_o, z_i) for all k: claims on parameters                          |
///   | 4 | P    | X(z_b, z_i, r_t): returned; V checks the product against the final value    |
/// Error: (n - 1 + 3*variables)/|E|.
///
/// X, integers of (block, in.., token).
struct MatrixInput {
  MatrixInput(const Integers& integers, Shape dimensions, const HeadLayout* padded = nullptr)
      : tensor(integers), shape(std::move(dimensions)), heads(padded) {}
  Integers tensor;
  Shape shape;
  const HeadLayout* heads;              // if in is their features without padding, and X has them padded
  [[nodiscard]] unsigned bits() const;  // of in

  /// X(., ., r_t) over (block, in), every dimension padded, which the prover made last: products may share it.
  struct AtToken {
    Point token;
    std::vector<E> values;
  };
  mutable AtToken made;
};

/// `weights`: all of one shape. Returns the claim on X.
template <class S>
PointClaimOf<S> matrix_product(VerifierContext<S>& context, const std::vector<ParameterId>& weights,
                               const TensorPoint& at, std::type_identity_t<const std::vector<S>&> values,
                               const MatrixInput& input);
PointClaim matrix_product(ProverContext& context, const std::vector<ParameterId>& weights, const TensorPoint& at,
                          const std::vector<E>& values, const MatrixInput& input);
/// The product with one matrix.
template <class Side>
PointClaimFor<Side> matrix_product(Side& context, ParameterId weight, const PointClaimFor<Side>& product,
                                   const MatrixInput& input) {
  return matrix_product(context, std::vector{weight}, product.point, std::vector{product.value}, input);
}

/// The factors of the claim on a weight in step 3.
std::vector<Factor> matrix_weight(const Shape& weight, const Point& block, const TensorPoint& at, const Point& in);

/// Factors beta, X, W_1..W_n.
struct MatrixProductRelation {
  static constexpr bool homogeneous = true;
  static constexpr bool weighted = false;
  std::vector<E> scale;  // lambda^(k-1)
  static constexpr std::size_t degree() { return 3; }
  [[nodiscard]] std::size_t factors() const { return 2 + scale.size(); }
  auto operator()(const auto& v) const {
    return v[0] * v[1] * sum_of(scale.size(), [&v, this](std::size_t k) { return scale[k] * v[2 + k]; });
  }
};
RoundKernel round_kernel(const MatrixProductRelation& relation);

}  // namespace tessera
