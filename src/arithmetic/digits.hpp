#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "memory/storage.hpp"

namespace tessera {

/// What values beyond 15 bits and a sign have above a digit of 15 bits, where few values of a matrix are so large. A
/// group of columns (see Digits::values) has tiles, the two rows of a pair, only where it is not all 0.
struct Excess {
  RawVector<std::size_t> first;   // tile of each group of columns, and the number of all
  RawVector<std::uint32_t> pair;  // of a tile, ascending in a group
  RawVector<std::int16_t> tiles;  // (tile, the group's columns, the pair's two rows), in units of 2^15
  std::int64_t largest = 0;       // absolute value
  [[nodiscard]] bool empty() const { return pair.empty(); }
};

/// Integers as sum_i 2^(bits*i) * digit_i. Digits are in [-2^(bits-1), 2^(bits-1)), the last one is what is left (but
/// see excess()).
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
  /// Digits of a value: 1 to 3 of many columns, 2 to 4 of few.
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] unsigned bits() const { return bits_; }
  [[nodiscard]] bool few() const { return columns_ <= few_columns; }
  /// Columns with those that only fill vectors: what a row of products has room for.
  [[nodiscard]] std::size_t padded_columns() const { return padded_columns_; }
  /// Few columns: (columns, digits, rows padded to whole vectors). Many: (groups of columns, pairs of rows, vectors,
  /// columns of a vector's 32-bit lanes, the pair's two rows), an odd last row with 0 beside it; the vectors are a
  /// column's digits, or where there is but one the columns of two vectors.
  [[nodiscard]] const std::int16_t* values() const { return values_.data(); }
  /// Where columns are few: how many values lie from a digit's first one to the next digit's.
  [[nodiscard]] std::size_t stride() const { return stride_; }
  /// Where columns are many: of each row what no digit exceeds in absolute value, below 2^15, of an even number of
  /// rows.
  [[nodiscard]] const std::int16_t* limits() const { return limits_.data(); }
  /// Where columns are many and digits one: to be added, times 2^15.
  [[nodiscard]] const Excess& excess() const { return excess_; }

 private:
  template <class T>
  void cut_few(std::span<const T> values);
  template <class T>
  void cut_many(std::span<const T> values);
  template <class T>
  [[nodiscard]] bool find_excess(std::span<const T> values, std::span<const std::uint32_t> largest, std::size_t group);
  void take_excess(std::size_t lanes);

  std::size_t rows_, columns_, count_ = 0, padded_columns_, stride_ = 0;
  unsigned bits_ = 0;
  RawVector<std::int16_t> values_;
  RawVector<std::int16_t> limits_;
  Excess excess_;
};

}  // namespace tessera
