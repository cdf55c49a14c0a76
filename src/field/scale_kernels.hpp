#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "field/extension.hpp"

/// \file
/// Multiples of values by one factor, vectorised.

namespace tessera {

/// products[i] = factor * values[i].
void scale(F factor, const F* values, std::size_t count, F* products);
/// sums[i] += factor * values[i].
void add_scaled(F factor, const F* values, std::size_t count, F* sums);

/// products[i] = factor * values[i].
void scale(E factor, const E* values, std::size_t count, E* products);
/// sums[i] += factor * values[i].
void add_scaled(E factor, const E* values, std::size_t count, E* sums);

/// sums[i * right.size() + j] += left[i] * right[j].
void add_outer_product(std::span<const E> left, std::span<const E> right, E* sums);

/// 16-bit integers, not aligned, times a factor: unsigned ones, or signed ones whose highest bit `flip` is.
struct ScaledIntegers {
  static constexpr std::size_t max_terms = std::size_t{1} << 15;  ///< whose products add up in 64 bits
  const std::byte* values;
  std::uint16_t flip;  // 0 or 2^15
  F factor;
};
/// sums[i] += the sum over terms of factor * value i, for i < count, a multiple of 8; at most max_terms terms.
void add_scaled_integers(std::span<const ScaledIntegers> terms, std::size_t count, F* sums);

}  // namespace tessera
