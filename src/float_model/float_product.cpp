#include <omp.h>

#include <algorithm>
#include "arithmetic/clones.hpp"
#include "arithmetic/integer_product.hpp"
#include "memory/storage.hpp"
#include "float_model/blas.hpp"
#include "float_model/float_layers.hpp"

namespace tessera {
namespace {

constexpr std::size_t single_rows = 2;  // too few for a tile
constexpr std::size_t few_rows = 16;
/// Rows of X in a tile: its sums stay in registers.
template <class Real>
constexpr std::size_t lanes_of = 64 / sizeof(Real);
constexpr std::size_t tile_outputs = 6;                            // of few rows
constexpr std::size_t columns_at_once = 1024, tiles_at_once = 16;  // of few rows
constexpr std::size_t rows_at_once = 128;                          // of X, which stay in a cache
constexpr std::size_t wide_stride = columns_at_once + 16;          // rows lie in other sets of the first cache
constexpr std::size_t slice_entries = std::size_t{1} << 20U;       // of W in float64, a thread
constexpr std::size_t least_slice = 16, slice_rows_multiple = 16;  // BLAS packs X anew for every slice

TESSERA_CLONES(void, scale, (const float* from, double factor, double* to, std::size_t size),
               (from, factor, to, size)) {
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = static_cast<double>(from[i]) * factor;
  }
}
TESSERA_CLONES(void, scale, (const float* from, double factor, float* to, std::size_t size), (from, factor, to, size)) {
  const auto single = static_cast<float>(factor);
  for (std::size_t i = 0; i < size; ++i) {
    to[i] = from[i] * single;
  }
}

/// A piece of tile_outputs rows of W: where the next one begins, and how far its rows are apart.
struct NextPiece {
  const float* values;
  std::size_t stride;
};

/// sums (tile_outputs, lanes) = products of rows of `size` columns of W, `wide_stride` apart, with rows of X (column,
/// lanes), summed in their order. Has the next piece of W fetched meanwhile.
template <class Real>
[[gnu::always_inline]] inline void multiply_lanes(const Real* w, const Real* x, std::size_t size, NextPiece next,
                                                  Real* sums) {
  constexpr std::size_t line = 16;  // floats
  constexpr std::size_t lanes = lanes_of<Real>;
  Real tile[tile_outputs][lanes] = {};
  for (std::size_t begin = 0; begin < size; begin += line) {
    for (std::size_t o = 0; o < tile_outputs; ++o) {
      __builtin_prefetch(next.values + o * next.stride + begin);
    }
    for (std::size_t i = begin; i < std::min(size, begin + line); ++i) {
      for (std::size_t o = 0; o < tile_outputs; ++o) {
#pragma omp simd
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          tile[o][lane] += w[o * wide_stride + i] * x[i * lanes + lane];
        }
      }
    }
  }
  std::copy_n(&tile[0][0], tile_outputs * lanes, sums);
}
TESSERA_CLONES(void, multiply_tile, (const double* w, const double* x, std::size_t size, NextPiece next, double* sums),
               (w, x, size, next, sums)) {
  multiply_lanes(w, x, size, next, sums);
}
TESSERA_CLONES(void, multiply_tile, (const float* w, const float* x, std::size_t size, NextPiece next, float* sums),
               (w, x, size, next, sums)) {
  multiply_lanes(w, x, size, next, sums);
}

/// X (rows, in) as (rows/lanes, in, lanes), with zeros where it has fewer rows.
template <class Real>
RawVector<Real> columns_first(std::span<const Real> x, std::size_t in) {
  constexpr std::size_t lanes = lanes_of<Real>;
  const std::size_t rows = x.size() / in;
  RawVector<Real> columns;
  columns.resize((rows + lanes - 1) / lanes * lanes * in);
#pragma omp parallel for schedule(static) if (columns.size() > parallel_work)
  for (std::size_t first = 0; first < rows; first += lanes) {
    Real* const to = columns.data() + first * in;
    const std::size_t held = std::min(lanes, rows - first);
    for (std::size_t i = 0; i < in; ++i) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        to[i * lanes + lane] = lane < held ? x[(first + lane) * in + i] : Real{0};
      }
    }
  }
  return columns;
}

/// Adds the products to Y, each sum in the order of the columns. Weights come from memory once for `rows_at_once` rows.
template <class Real>
void multiply_in_order(std::span<const Real> x, const FloatMatrix& weight, std::size_t in, std::span<Real> y) {
  constexpr std::size_t lanes = lanes_of<Real>;
  const std::size_t out = weight.values.size() / in;
  const std::size_t rows = x.size() / in;
  const RawVector<Real> columns = columns_first(x, in);
#pragma omp parallel if (rows * weight.values.size() > parallel_products)
  {
    std::vector<Real> wide(tile_outputs * wide_stride);
    Real sums[tile_outputs * lanes];
#pragma omp for collapse(2) schedule(dynamic, tiles_at_once)
    for (std::size_t begin = 0; begin < rows; begin += rows_at_once) {
      for (std::size_t first = 0; first < out; first += tile_outputs) {
        const std::size_t outputs = std::min(tile_outputs, out - first);
        const std::size_t end = std::min(rows, begin + rows_at_once);
        for (std::size_t column = 0; column < in; column += columns_at_once) {
          const std::size_t size = std::min(columns_at_once, in - column);
          const float* const w = weight.values.data() + first * in + column;
          for (std::size_t o = 0; o < outputs; ++o) {
            scale(w + o * in, weight.factor, wide.data() + o * wide_stride, size);
          }
          const NextPiece next{column + size < in ? w + size : w - column + outputs * in, in};
          for (std::size_t row = begin; row < end; row += lanes) {
            multiply_tile(wide.data(), columns.data() + row * in + column * lanes, size, next, sums);
            for (std::size_t lane = 0; lane < std::min(lanes, end - row); ++lane) {
              for (std::size_t o = 0; o < outputs; ++o) {
                y[(row + lane) * out + first + o] += sums[o * lanes + lane];
              }
            }
          }
        }
      }
    }
  }
}

TESSERA_CLONES(double, dot, (const float* w, double factor, const double* x, std::size_t size), (w, factor, x, size)) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < size; ++i) {
    sum += static_cast<double>(w[i]) * factor * x[i];
  }
  return sum;
}

/// Adds the products of one row or two to Y.
void multiply_single(std::span<const double> x, const FloatMatrix& weight, std::size_t in, std::span<double> y) {
  const std::size_t out = weight.values.size() / in;
  const std::size_t rows = x.size() / in;
#pragma omp parallel for schedule(static) if (rows * weight.values.size() > parallel_products)
  for (std::size_t o = 0; o < out; ++o) {
    for (std::size_t row = 0; row < rows; ++row) {
      y[row * out + o] += dot(weight.values.data() + o * in, weight.factor, x.data() + row * in, in);
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
      scale(weight.values.data() + first * in, weight.factor, wide.data(), count * in);
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, blas_int(rows), blas_int(count), blas_int(in), 1.0, x.data(),
                  blas_int(in), wide.data(), blas_int(in), 1.0, y.data() + first, blas_int(out));
    }
  }
}

void multiply(std::span<const double> x, const FloatMatrix& weight, std::size_t in, std::span<double> y) {
  const std::size_t rows = x.size() / in;
  (rows <= single_rows ? multiply_single
   : rows <= few_rows  ? multiply_in_order<double>
                       : multiply_many)(x, weight, in, y);
}

void multiply(std::span<const float> x, const FloatMatrix& weight, std::size_t in, std::span<float> y) {
  multiply_in_order(x, weight, in, y);
}

/// B (columns, inner), or (inner, columns), as (columns/lanes, inner, lanes), with zeros where it has fewer columns.
RawVector<float> panels(bool transposed, std::size_t columns, std::size_t inner, const float* b, std::size_t stride) {
  constexpr std::size_t lanes = lanes_of<float>;
  RawVector<float> packed;
  packed.resize((columns + lanes - 1) / lanes * lanes * inner);
  float* to = packed.data();
  for (std::size_t first = 0; first < columns; first += lanes) {
    const std::size_t held = std::min(lanes, columns - first);
    for (std::size_t i = 0; i < inner; ++i) {
      for (std::size_t lane = 0; lane < held; ++lane) {
        to[lane] = transposed ? b[(first + lane) * stride + i] : b[i * stride + first + lane];
      }
      std::fill(to + held, to + lanes, 0.0F);
      to += lanes;
    }
  }
  return packed;
}

/// A sum of products in a fixed order: sixteen sums side by side, then those.
TESSERA_CLONES(float, dot_in_order, (const float* a, const float* b, std::size_t size), (a, b, size)) {
  constexpr std::size_t lanes = lanes_of<float>;
  float sums[lanes] = {};
  const std::size_t full = size / lanes * lanes;
  for (std::size_t i = 0; i < full; i += lanes) {
#pragma omp simd
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sums[lane] += a[i + lane] * b[i + lane];
    }
  }
  for (std::size_t i = full; i < size; ++i) {
    sums[i - full] += a[i] * b[i];
  }
  float sum = 0;
  for (const float part : sums) {
    sum += part;
  }
  return sum;
}

TESSERA_CLONES(void, add_scaled, (const float* values, float factor, float* to, std::size_t size),
               (values, factor, to, size)) {
#pragma omp simd
  for (std::size_t i = 0; i < size; ++i) {
    to[i] += factor * values[i];
  }
}

/// Too few rows of A to pay for packing B.
void multiply_row(bool transposed, std::size_t columns, std::size_t inner, const float* a, const float* b,
                  std::size_t b_stride, float* c) {
  if (transposed) {
    for (std::size_t column = 0; column < columns; ++column) {
      c[column] = dot_in_order(a, b + column * b_stride, inner);
    }
    return;
  }
  std::fill_n(c, columns, 0.0F);
  for (std::size_t i = 0; i < inner; ++i) {
    add_scaled(b + i * b_stride, a[i], c, columns);
  }
}

}  // namespace

template <class Real>
std::vector<Real> linear(std::span<const Real> x, const FloatMatrix& weight, std::size_t in,
                         std::span<const Real> bias) {
  const std::size_t out = weight.values.size() / in;
  const std::size_t rows = x.size() / in;
  std::vector<Real> y(rows * out);
  for (std::size_t row = 0; row < (bias.empty() ? 0 : rows); ++row) {
    std::copy(bias.begin(), bias.end(), y.begin() + static_cast<std::ptrdiff_t>(row * out));
  }
  multiply(x, weight, in, y);
  return y;
}

void multiply_in_order(const ProductSizes& sizes, StridedMatrix<const float> a, StridedMatrix<const float> b,
                       StridedMatrix<float> c) {
  const auto [transposed, rows, columns, inner] = sizes;
  if (rows <= single_rows) {
    for (std::size_t row = 0; row < rows; ++row) {
      multiply_row(transposed, columns, inner, a.values + row * a.stride, b.values, b.stride,
                   c.values + row * c.stride);
    }
    return;
  }
  constexpr std::size_t lanes = lanes_of<float>;
  const RawVector<float> packed = panels(transposed, columns, inner, b.values, b.stride);
  std::vector<float> wide(tile_outputs * wide_stride);
  float sums[tile_outputs * lanes];
  for (std::size_t first = 0; first < rows; first += tile_outputs) {
    const std::size_t held = std::min(tile_outputs, rows - first);
    for (std::size_t column = 0; column < inner; column += columns_at_once) {
      const std::size_t size = std::min(columns_at_once, inner - column);
      for (std::size_t row = 0; row < held; ++row) {
        std::copy_n(a.values + (first + row) * a.stride + column, size, wide.data() + row * wide_stride);
      }
      for (std::size_t place = 0; place < columns; place += lanes) {
        multiply_tile(wide.data(), packed.data() + place * inner + column * lanes, size, {wide.data(), 0}, sums);
        for (std::size_t row = 0; row < held; ++row) {
          float* const to = c.values + (first + row) * c.stride + place;
          for (std::size_t lane = 0; lane < std::min(lanes, columns - place); ++lane) {
            to[lane] = (column == 0 ? 0.0F : to[lane]) + sums[row * lanes + lane];
          }
        }
      }
    }
  }
}

template std::vector<float> linear(std::span<const float>, const FloatMatrix&, std::size_t, std::span<const float>);
template std::vector<double> linear(std::span<const double>, const FloatMatrix&, std::size_t, std::span<const double>);

}  // namespace tessera
