#pragma once

#include <variant>

#include "opening/opened_columns.hpp"
#include "tensor/multilinear.hpp"

namespace tessera {

/// The basis element of E beside 1: weight of an element's second value where it is committed to as two.
inline constexpr E second_coordinate{F::zero(), F::one()};

/// The challenges that bound variables so far, in the order of binding: first the row variables (lowest bit of the
/// oracle with most rows first), then the variables of v_0, lowest first. An oracle with k_j rows bits uses the last
/// k_j row challenges, so that all oracles' rows are used up at the same time.
class BoundVariables {
 public:
  explicit BoundVariables(unsigned row_variables) : row_variables_(row_variables) {}
  void push(E challenge) { challenges_.push_back(challenge); }

  /// The last `count` challenges, most significant variable first.
  [[nodiscard]] Point latest(std::size_t count) const;
  /// Row point of an oracle with `log_rows` row variables.
  [[nodiscard]] Point row_point(unsigned log_rows) const;
  /// Point of v_0 without its first (lowest) `skip` variables; all variables are bound.
  [[nodiscard]] Point vector_point(std::size_t skip) const;

 private:
  std::size_t row_variables_;
  Point challenges_;
};

/// Claims <vector segment, (1, x, x^2, ...)> = value from opened columns of one word. The segment has as many values as
/// the word's rows have coefficients: whatever else is in the vector, the claims do not reach it.
struct PowerClaims {
  std::size_t first_variable = 0;  ///< variables of v_0 that were bound when the claims were made
  std::uint64_t length = 0;
  std::uint64_t offset = 0;
  std::vector<F> points;
  std::vector<E> values;
  std::vector<E> coefficients;

  /// Every claim holds for `vector`.
  [[nodiscard]] bool hold_for(std::span<const E> vector) const;
  /// Multilinear extension of sum_i coefficient_i * (0, .., 0, 1, x_i, x_i^2, .., 0, .., 0), the powers on the segment,
  /// at a point of the vector.
  [[nodiscard]] E weight_at(std::span<const E> point) const;
};

/// The sum of a vector's values at neighbouring places, with weights.
struct PlaceWeights {
  std::size_t first_variable = 0;  ///< variables of v_0 that are bound in the vector
  std::uint64_t first = 0;
  std::vector<E> weights;

  /// The weights' multilinear extension at a point of the vector.
  [[nodiscard]] E weight_at(std::span<const E> point) const;
};

/// A linear form on what is left of v_0 once its first variables are bound.
using VectorForm = std::variant<PlaceWeights, PowerClaims>;
/// The multilinear extension of its weights where all variables are bound.
E weight_at(const VectorForm& form, const BoundVariables& bound);

/// The claims that this round's opened columns make on the vector bound from their words.
std::vector<PowerClaims> power_claims(std::span<const CommittedWord> words, std::span<const OpenedColumns> opened,
                                      const BoundVariables& bound, std::size_t round);

/// Gives the claims the coefficients first, first * delta, ... in order; returns the sum of coefficient * value.
E assign_coefficients(std::span<PowerClaims> claims, E delta, E first);

}  // namespace tessera
