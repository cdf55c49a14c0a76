#include "arithmetic/integer_product.hpp"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <mutex>
#include <vector>

extern "C" {
void openblas_set_num_threads(int threads) __attribute__((weak));
}

namespace tessera {

void use_single_threaded_blas() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (openblas_set_num_threads != nullptr) {
      openblas_set_num_threads(1);
    }
  });
}

/// Products below which other threads are not woken: one thread reads so many weights in about ten microseconds.
constexpr std::size_t parallel_products = std::size_t{1} << 16;

void multiply(const RowBlock<const std::int16_t>& weights, Range rows, const ProductInput& input,
              const ProductRow& consume) {
  const std::span<const std::int16_t> held = weights.rows(rows);
  const Digits& digits = input.digits();
  const std::size_t in = input.rows();
  const std::size_t columns = input.columns();
  // panels large enough to use what is taken of X several times, small enough to give every thread some; few columns
  // are bound by memory, which is read ahead where rows follow each other
  const std::size_t share = rows.size() / static_cast<std::size_t>(omp_get_max_threads()) + 1;
  const std::size_t unit = product_panel_rows();
  const std::size_t most = digits.few() ? std::max<std::size_t>(4, share / (8 * unit)) : 48 / unit;
  const std::size_t panel = std::min(most, (share + unit - 1) / unit) * unit;
  const std::size_t panels = (rows.size() + panel - 1) / panel;
#pragma omp parallel if (rows.size() * in * columns > parallel_products)
  {
    RawVector<std::int64_t> products(panel * digits.padded_columns());
#pragma omp for schedule(dynamic)
    for (std::size_t p = 0; p < panels; ++p) {
      const std::size_t first = p * panel;  // of `rows`
      const std::size_t count = std::min(panel, rows.size() - first);
      multiply_digits(held.data() + first * in, count, digits, products);
      for (std::size_t i = 0; i < count; ++i) {
        consume(rows.first + first + i, std::span(products).subspan(i * digits.padded_columns(), columns));
      }
    }
  }
}

void multiply_real(Transpose transpose, std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b,
                   std::span<double> c) {
  const auto size = [](std::size_t value) { return static_cast<int>(value); };
  cblas_dgemm(CblasRowMajor, transpose == Transpose::left ? CblasTrans : CblasNoTrans,
              transpose == Transpose::right ? CblasTrans : CblasNoTrans, size(m), size(n), size(k), 1.0, a.values,
              size(a.stride), b.values, size(b.stride), 0.0, c.data(), size(n));
}

}  // namespace tessera
