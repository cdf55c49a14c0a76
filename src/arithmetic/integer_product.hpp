#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "arithmetic/product_kernels.hpp"
#include "base/range.hpp"
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
  /// `values` row-major.
  ProductInput(std::span<const std::int16_t> values, std::size_t rows, std::size_t columns)
      : digits_(values, rows, columns) {}
  /// `values` row-major, of 32 bits.
  ProductInput(std::span<const std::int32_t> values, std::size_t rows, std::size_t columns)
      : digits_(values, rows, columns) {}

  [[nodiscard]] std::size_t rows() const { return digits_.rows(); }
  [[nodiscard]] std::size_t columns() const { return digits_.columns(); }
  [[nodiscard]] const Digits& digits() const { return digits_; }

 private:
  Digits digits_;
};

/// Receives row `row` of a product: one exact integer a column. Called from several threads at once.
using ProductRow = std::function<void(std::size_t row, std::span<const std::int64_t> products)>;

/// Rows `rows` of W*X for W (out, X.rows()) int16. Exact: sums are at most X.rows()*2^15*max|X|, which must be below
/// 2^63. `consume` must not throw. Throws std::logic_error if rows of W are not held.
void multiply(const RowBlock<const std::int16_t>& weights, Range rows, const ProductInput& input,
              const ProductRow& consume);

/// Row-major float64 product C (m, n) = op(A) * op(B) over k, leading dimensions as stored; a thin layer over BLAS.
enum class Transpose : std::uint8_t { none, left, right };
struct MatrixView {
  const double* values;
  std::size_t stride;  // between rows as stored
};
void multiply_real(Transpose transpose, std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b,
                   std::span<double> c);

}  // namespace tessera
