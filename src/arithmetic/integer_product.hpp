#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/range.hpp"
#include "memory/storage.hpp"
#include "tensor/row_block.hpp"

namespace tessera {

/// Elementary steps below which a loop is not worth waking other threads.
inline constexpr std::size_t parallel_work = std::size_t{1} << 17;

/// Asks BLAS for one thread a call, once per process: the callers run it from OpenMP threads. Nothing happens if the
/// library is not OpenBLAS.
void use_single_threaded_blas();

/// The right factor X (rows, columns) of integer products, prepared once and used for several weight matrices.
class ProductInput {
 public:
  /// `values` row-major; up to this many columns take the int16 kernel, more go to BLAS in float64.
  static constexpr std::size_t narrow = 3;
  ProductInput(std::span<const std::int16_t> values, std::size_t rows, std::size_t columns);
  /// The same of wider values.
  ProductInput(std::span<const std::int32_t> values, std::size_t rows, std::size_t columns);

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::span<const double> real() const { return real_; }
  /// X = 256*high + low by column, each column contiguous, 0 <= low < 256.
  [[nodiscard]] const std::vector<std::int16_t>& high() const { return high_; }
  [[nodiscard]] const std::vector<std::int16_t>& low() const { return low_; }
  /// X by column where it was given in 32 bits; else empty.
  [[nodiscard]] const std::vector<std::int32_t>& wide() const { return wide_; }

 private:
  std::size_t rows_;
  std::size_t columns_;
  RawVector<double> real_;                // (rows, columns), wide inputs
  std::vector<std::int16_t> high_, low_;  // (columns, rows), narrow inputs
  std::vector<std::int32_t> wide_;        // the same of 32 bits
};

/// Receives row `row` of a product: one exact integer a column. Called from several threads at once.
using ProductRow = std::function<void(std::size_t row, std::span<const std::int64_t> products)>;

/// Rows `rows` of W*X for W (out, X.rows()) int16. Exact: partial sums are at most X.rows()*2^15*max|X|, which must be
/// below 2^53. `consume` must not throw. Throws std::logic_error if rows of W are not held.
void multiply(const RowBlock<const std::int16_t>& weights, Range rows, const ProductInput& input,
              const ProductRow& consume);

/// sum_i a_i*b_i of int16 with b = 256*high + low; exact for any length below 2^31.
std::int64_t dot_split(const std::int16_t* a, const std::int16_t* high, const std::int16_t* low, std::size_t size);

/// sum_i a_i*b_i; exact below 2^63.
std::int64_t dot_wide(const std::int16_t* a, const std::int32_t* b, std::size_t size);

/// Row-major float64 product C (m, n) = op(A) * op(B) over k, leading dimensions as stored; a thin layer over BLAS.
enum class Transpose : std::uint8_t { none, left, right };
struct MatrixView {
  const double* values;
  std::size_t stride;  // between rows as stored
};
void multiply_real(Transpose transpose, std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b,
                   std::span<double> c);

}  // namespace tessera
