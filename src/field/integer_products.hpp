#pragma once

#include <cstdint>
#include <span>
#include <vector>
#include "base/range.hpp"
#include "field/extension.hpp"

namespace tessera {

/// Combinations of the rows of integer matrices that are all as wide, with the same weights.
template <class T>
class IntegerCombination {
 public:
  IntegerCombination() = default;
  /// `weights`: one a row; they must outlive this.
  IntegerCombination(std::span<const E> weights, std::size_t width) { prepare(weights, width); }
  void prepare(std::span<const E> weights, std::size_t width);
  /// sums[c] += sum_r weights[r] * matrix[r * width + c] for c < width.
  void add(std::span<const T> matrix, std::span<E> sums) const;

 private:
  void add_vectors(std::size_t first, std::size_t count, std::span<const T> matrix, std::span<E> sums) const;

  std::span<const E> weights_;
  std::size_t width_ = 0;
  std::size_t rows_together_ = 0;     // in a vector; 0: value by value
  std::vector<std::uint64_t> limbs_;  // of all weights, as kernels take them
  E offset_;                          // what the flipped signs of a column add
};

/// Dot products of integer rows. A row may lie in several matrices of as many rows, whose widths are `width`.
template <class T>
class IntegerDots {
 public:
  /// Terms of a row that are summed at once.
  static constexpr std::size_t max_terms = std::size_t{1} << 13;

  /// `weights`: matrix after matrix, one a column, a multiple of `width`; they must outlive this.
  IntegerDots(std::span<const E> weights, std::size_t width);
  /// sums[r] += sum over m, c of weights[(first + m) * width + c] * matrices[(m * rows + r) * width + c], rows =
  /// sums.size(): of all `matrices`, which have at most max_terms columns.
  void add(std::size_t first, std::span<const T> matrices, std::span<E> sums) const;

 private:
  void add_plainly(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums) const;
  void add_vectors(Range numbers, std::span<const T> matrices, std::span<E> sums) const;

  std::span<const E> weights_;
  std::size_t width_;
  std::size_t vectors_ = 0;           // of a matrix's row; 0: value by value
  std::size_t rows_together_ = 0;     // in a vector
  std::vector<std::uint64_t> limbs_;  // of all weights, as kernels take them
  std::vector<E> offsets_;            // what the flipped signs of a matrix's row add
};

/// sums[c] += sum_r weights[r] * matrix[r * width + c] for c < width (= sums.size()): a combination of integer rows.
template <class T>
void combine_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums);

/// sums[r] += sum_c weights[c] * matrix[r * width + c] for all r < sums.size(), width = weights.size().
template <class T>
void dot_integer_rows(std::span<const E> weights, std::span<const T> matrix, std::span<E> sums);

}  // namespace tessera
