#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/storage.hpp"

/// \file
/// Exact products of int16 matrices in 32-bit sums: the right factor is cut into digits of 8 bits, so that several
/// hundred products fit, and sums are widened to 64 bits in between.

namespace tessera {

/// Integers as sum_i 256^i * digit_i. Digits are in [-128, 128), the last one in [-128, 128].
class Digits {
 public:
  static constexpr std::size_t most = 4;
  /// Up to this many columns take the kernel of dot products.
  static constexpr std::size_t few_columns = 8;

  /// `values` (rows, columns) row-major.
  template <class T>
  Digits(std::span<const T> values, std::size_t rows, std::size_t columns);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] bool few() const { return columns_ <= few_columns; }
  /// Columns with those that only fill a vector: what a row of products has room for.
  [[nodiscard]] std::size_t padded_columns() const { return padded_columns_; }
  /// Few columns: (columns, digits, rows padded to whole vectors). Many: (blocks of a vector's 32-bit lanes, pairs of
  /// rows, digits, columns of the block, the pair's two rows), an odd last row with 0 beside it.
  [[nodiscard]] const std::int16_t* values() const { return values_.data(); }
  /// Where columns are few: how many values lie from a digit's first one to the next digit's.
  [[nodiscard]] std::size_t stride() const { return stride_; }

 private:
  std::size_t rows_, columns_, count_, padded_columns_, stride_ = 0;
  RawVector<std::int16_t> values_;
};

/// Rows of W that fill the registers: calls take a multiple of so many where there are many columns.
std::size_t product_panel_rows();

/// products (rows, digits.padded_columns()) = W*X. Each at most 2^63 in absolute value.
void multiply_digits(const std::int16_t* weights, std::size_t rows, const Digits& digits,
                     std::span<std::int64_t> products);

}  // namespace tessera
