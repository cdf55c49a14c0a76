#pragma once

#include "sumcheck/sumcheck.hpp"
#include "sumcheck/vector_form.hpp"

namespace tessera {

/// Product of two factors.
struct ProductRelation {
  static constexpr bool homogeneous = true;
  [[nodiscard]] std::size_t degree() const { return 2; }
  [[nodiscard]] std::size_t factors() const { return 2; }
  E operator()(std::span<const E> v) const { return v[0] * v[1]; }
  [[nodiscard]] VectorForm vector_form() const { return {VectorForm::Kind::products, 1, {}}; }
};

/// Product of three factors.
struct TripleProductRelation {
  static constexpr bool homogeneous = true;
  [[nodiscard]] std::size_t degree() const { return 3; }
  [[nodiscard]] std::size_t factors() const { return 3; }
  E operator()(std::span<const E> v) const { return v[0] * v[1] * v[2]; }
  [[nodiscard]] VectorForm vector_form() const { return {VectorForm::Kind::triple_product, 1, {}}; }
};

}  // namespace tessera
