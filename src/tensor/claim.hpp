#pragma once

#include "tensor/multilinear.hpp"

namespace tessera {

/// The weight of a claim along one dimension with n variables: w(x_high, x_low) = head[x_high] * beta(tail, x_low),
/// head explicit and public (length 2^(n - tail.size())), tail a point on the low variables.
struct Factor {
  std::vector<E> head{E::one()};
  Point tail;

  static Factor at(Point point) { return {{E::one()}, std::move(point)}; }
  static Factor of(std::vector<E> vector) { return {std::move(vector), {}}; }
  /// Sum over the whole dimension: weight one everywhere, as 2^bits * beta((1/2, .., 1/2), .).
  static Factor ones(unsigned bits);
  /// Weight one at `index`: the boolean point.
  static Factor one_hot(unsigned bits, std::size_t index);

  [[nodiscard]] unsigned bits() const;
  /// The weight's multilinear extension at `point`.
  [[nodiscard]] E evaluate(std::span<const E> point) const;
  /// All 2^bits weights.
  [[nodiscard]] std::vector<E> table() const;
};

/// The linear form <w, T> on a committed tensor T (its number in its oracle), w = product over T's dimensions of
/// factors.
struct LinearForm {
  std::size_t tensor = 0;
  std::vector<Factor> weight;
};

/// The claim <w, T> = value; S: what a verifier knows of values (VerifierView).
template <class S>
struct ClaimOf : LinearForm {
  S value;
};
using Claim = ClaimOf<E>;

/// The factors of an evaluation claim: w = beta(point, .).
std::vector<Factor> weight_at(const TensorPoint& point);
/// The multilinear extension of the weight at a point of the tensor.
E evaluate_weight(std::span<const Factor> weight, const TensorPoint& point);

}  // namespace tessera
