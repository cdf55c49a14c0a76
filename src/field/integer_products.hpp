#pragma once

#include <cstdint>
#include <span>
#include "field/extension.hpp"

namespace tessera {

/// sums[c] += sum_r weights[r] * matrix[r * width + c] for c < width (= sums.size()): a combination of integer rows.
template <class T>
void combine_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums);

/// sums[r] += sum_c weights[c] * matrix[r * width + c] for all r < sums.size(), width = weights.size().
template <class T>
void dot_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums);

}  // namespace tessera
