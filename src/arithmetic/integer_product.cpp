#include "arithmetic/integer_product.hpp"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "arithmetic/clones.hpp"

extern "C" {
void openblas_set_num_threads(int threads) __attribute__((weak));
}

namespace tessera {
namespace {

TESSERA_CLONES void widen(const std::int16_t* from, double* to, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = static_cast<double>(from[i]);
  }
}

TESSERA_CLONES void widen(const std::int32_t* from, double* to, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = static_cast<double>(from[i]);
  }
}

TESSERA_CLONES void round_exact(const double* from, std::int64_t* to, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = static_cast<std::int64_t>(from[i]);
  }
}

template <class T>
void widen_rows(const T* from, double* to, std::size_t rows, std::size_t columns) {
#pragma omp parallel for schedule(static) if (rows * columns > parallel_work)
  for (std::size_t row = 0; row < rows; ++row) {
    widen(from + row * columns, to + row * columns, columns);
  }
}

/// `weights` begin with row rows.first.
void multiply_narrow(std::span<const std::int16_t> weights, Range rows, const ProductInput& input,
                     const ProductRow& consume) {
  const std::size_t in = input.rows();
#pragma omp parallel for schedule(static) if (rows.size() * in * input.columns() > parallel_work)
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    std::array<std::int64_t, ProductInput::narrow> products{};
    const std::int16_t* weights_of_row = weights.data() + (row - rows.first) * in;
    for (std::size_t column = 0; column < input.columns(); ++column) {
      products[column] = input.wide().empty() ? dot_split(weights_of_row, input.high().data() + column * in,
                                                          input.low().data() + column * in, in)
                                              : dot_wide(weights_of_row, input.wide().data() + column * in, in);
    }
    consume(row, {products.data(), input.columns()});
  }
}

}  // namespace

void use_single_threaded_blas() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (openblas_set_num_threads != nullptr) {
      openblas_set_num_threads(1);
    }
  });
}

TESSERA_CLONES std::int64_t dot_split(const std::int16_t* a, const std::int16_t* high, const std::int16_t* low,
                                      std::size_t size) {
  // |a*low| <= 2^15*255 and |a*high| <= 2^22: 256 of them stay below 2^31 in int32
  constexpr std::size_t block = 256;
  std::int64_t total = 0;
  std::size_t i = 0;
  for (; i + block <= size; i += block) {
    std::int32_t sum_high = 0;
    std::int32_t sum_low = 0;
    for (std::size_t j = i; j < i + block; ++j) {
      sum_high += std::int32_t{a[j]} * std::int32_t{high[j]};
      sum_low += std::int32_t{a[j]} * std::int32_t{low[j]};
    }
    total += std::int64_t{sum_high} * 256 + sum_low;
  }
  std::int32_t sum_high = 0;
  std::int32_t sum_low = 0;
  for (; i < size; ++i) {
    sum_high += std::int32_t{a[i]} * std::int32_t{high[i]};
    sum_low += std::int32_t{a[i]} * std::int32_t{low[i]};
  }
  return total + std::int64_t{sum_high} * 256 + sum_low;
}

TESSERA_CLONES std::int64_t dot_wide(const std::int16_t* a, const std::int32_t* b, std::size_t size) {
  std::int64_t total = 0;
  for (std::size_t i = 0; i < size; ++i) {
    total += std::int64_t{a[i]} * std::int64_t{b[i]};
  }
  return total;
}

ProductInput::ProductInput(std::span<const std::int32_t> values, std::size_t rows, std::size_t columns)
    : rows_(rows), columns_(columns) {
  if (columns > narrow) {
    real_.resize(rows * columns);
    widen_rows(values.data(), real_.data(), rows, columns);
    return;
  }
  wide_.resize(rows * columns);
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      wide_[column * rows + row] = values[row * columns + column];
    }
  }
}

ProductInput::ProductInput(std::span<const std::int16_t> values, std::size_t rows, std::size_t columns)
    : rows_(rows), columns_(columns) {
  if (columns > narrow) {
    real_.resize(rows * columns);
    widen_rows(values.data(), real_.data(), rows, columns);
    return;
  }
  high_.resize(rows * columns);
  low_.resize(rows * columns);
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      const std::int16_t value = values[row * columns + column];
      high_[column * rows + row] = static_cast<std::int16_t>(value >> 8);
      low_[column * rows + row] = static_cast<std::int16_t>(value & 0xff);
    }
  }
}

void multiply(const RowBlock<const std::int16_t>& weights, Range rows, const ProductInput& input,
              const ProductRow& consume) {
  const std::span<const std::int16_t> held = weights.rows(rows);
  if (input.columns() <= ProductInput::narrow) {
    multiply_narrow(held, rows, input, consume);
    return;
  }
  const std::size_t in = input.rows();
  const std::size_t columns = input.columns();
  // panels large enough to amortize the packing of X inside BLAS, small enough to give every thread one
  const std::size_t share = rows.size() / static_cast<std::size_t>(omp_get_max_threads()) + 1;
  const std::size_t panel = std::clamp<std::size_t>(share, 16, 192);
  const std::size_t panels = (rows.size() + panel - 1) / panel;
#pragma omp parallel if (rows.size() * in * columns > parallel_work)
  {
    std::vector<double> left(panel * in);
    std::vector<double> product(panel * columns);
    std::vector<std::int64_t> integers(columns);
#pragma omp for schedule(dynamic)
    for (std::size_t p = 0; p < panels; ++p) {
      const std::size_t first = p * panel;  // of `rows`
      const std::size_t count = std::min(panel, rows.size() - first);
      widen(held.data() + first * in, left.data(), count * in);
      multiply_real(Transpose::none, count, columns, in, {left.data(), in}, {input.real().data(), columns}, product);
      for (std::size_t i = 0; i < count; ++i) {
        round_exact(product.data() + i * columns, integers.data(), columns);
        consume(rows.first + first + i, integers);
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
