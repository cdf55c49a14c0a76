#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include "arithmetic/clones.hpp"
#include "arithmetic/integer_product.hpp"
#include "memory/storage.hpp"
#include "model/float_layers.hpp"

namespace tessera {
namespace {

constexpr std::size_t few_rows = 8;
constexpr std::size_t outputs_at_once = 64;                        // of few rows
constexpr std::size_t columns_at_once = 512;                       // of few rows: they stay in the first cache
constexpr std::size_t slice_entries = std::size_t{1} << 20U;       // of W in float64, a thread
constexpr std::size_t least_slice = 16, slice_rows_multiple = 16;  // BLAS packs X anew for every slice

int blas_int(std::size_t value) { return static_cast<int>(value); }

TESSERA_CLONES void widen(const float* from, double factor, double* to, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = static_cast<double>(from[i]) * factor;
  }
}

TESSERA_CLONES double dot(const float* w, double factor, const double* x, std::size_t size) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < size; ++i) {
    sum += static_cast<double>(w[i]) * factor * x[i];
  }
  return sum;
}

/// sums[r] = w*x of four rows x, `stride` apart.
TESSERA_CLONES void dot_four(const float* w, double factor, const double* x, std::size_t stride, std::size_t size,
                             double* sums) {
  const double* const x1 = x + stride;
  const double* const x2 = x1 + stride;
  const double* const x3 = x2 + stride;
  double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
#pragma omp simd reduction(+ : sum0, sum1, sum2, sum3)
  for (std::size_t i = 0; i < size; ++i) {
    const double value = static_cast<double>(w[i]) * factor;
    sum0 += value * x[i];
    sum1 += value * x1[i];
    sum2 += value * x2[i];
    sum3 += value * x3[i];
  }
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
}

/// Adds the products to Y.
void multiply_few(std::span<const double> x, const FloatMatrix& weight, std::size_t in, std::span<double> y) {
  const std::size_t out = weight.values.size() / in;
  const std::size_t rows = x.size() / in;
#pragma omp parallel for schedule(static) if (rows * weight.values.size() > parallel_products)
  for (std::size_t first = 0; first < out; first += outputs_at_once) {
    for (std::size_t column = 0; column < in; column += columns_at_once) {
      const std::size_t size = std::min(columns_at_once, in - column);
      for (std::size_t o = first; o < std::min(out, first + outputs_at_once); ++o) {
        const float* const w = weight.values.data() + o * in + column;
        std::size_t row = 0;
        for (; row + 4 <= rows; row += 4) {
          double sums[4];
          dot_four(w, weight.factor, x.data() + row * in + column, in, size, sums);
          for (std::size_t r = 0; r < 4; ++r) {
            y[(row + r) * out + o] += sums[r];
          }
        }
        for (; row < rows; ++row) {
          y[row * out + o] += dot(w, weight.factor, x.data() + row * in + column, size);
        }
      }
    }
  }
}

/// Adds the products to Y.
void multiply_many(std::span<const double> x, const FloatMatrix& weight, std::size_t in, std::span<double> y) {
  use_single_threaded_blas();
  const std::size_t out = weight.values.size() / in;
  const std::size_t rows = x.size() / in;
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  const std::size_t share = (out + threads - 1) / threads;
  const std::size_t slice = std::clamp(slice_entries / in, least_slice, std::max(least_slice, share)) /
                            slice_rows_multiple * slice_rows_multiple;
#pragma omp parallel if (rows * weight.values.size() > parallel_products)
  {
    RawVector<double> wide;
    wide.resize(std::min(slice, out) * in);
#pragma omp for schedule(dynamic)
    for (std::size_t first = 0; first < out; first += slice) {
      const std::size_t count = std::min(slice, out - first);
      widen(weight.values.data() + first * in, weight.factor, wide.data(), count * in);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, blas_int(rows), blas_int(count), blas_int(in), 1.0, x.data(),
                  blas_int(in), wide.data(), blas_int(in), 1.0, y.data() + first, blas_int(out));
    }
  }
}

}  // namespace

std::vector<double> linear(std::span<const double> x, const FloatMatrix& weight, std::size_t in,
                           std::span<const double> bias) {
  const std::size_t out = weight.values.size() / in;
  const std::size_t rows = x.size() / in;
  std::vector<double> y(rows * out);
  for (std::size_t row = 0; row < (bias.empty() ? 0 : rows); ++row) {
    std::copy(bias.begin(), bias.end(), y.begin() + static_cast<std::ptrdiff_t>(row * out));
  }
  (rows <= few_rows ? multiply_few : multiply_many)(x, weight, in, y);
  return y;
}

}  // namespace tessera
