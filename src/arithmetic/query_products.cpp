#include "arithmetic/query_products.hpp"

#include "arithmetic/clones.hpp"

namespace tessera {
namespace {

/// Columns that are summed at once.
constexpr std::size_t block = 16;

TESSERA_CLONES(void, weigh_block,
               (const std::int16_t* factors, std::size_t step, const std::int16_t* rows, std::size_t stride,
                std::size_t count, std::int64_t* sums),
               (factors, step, rows, stride, count, sums)) {
  // an array beside `sums` would be cleared and read in vectors of different widths
#pragma omp simd
  for (std::size_t j = 0; j < block; ++j) {
    sums[j] = factors[0] * std::int32_t{rows[j]};
  }
  for (std::size_t i = 1; i < count; ++i) {
    const std::int32_t factor = factors[i * step];
    const std::int16_t* const row = rows + i * stride;
#pragma omp simd
    for (std::size_t j = 0; j < block; ++j) {
      sums[j] += factor * std::int32_t{row[j]};
    }
  }
}

TESSERA_CLONES(void, multiply_all,
               (const std::int16_t* rows, std::size_t stride, std::size_t count, const double* weights,
                std::size_t columns, double* sums, std::size_t step),
               (rows, stride, count, weights, columns, sums, step)) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::int16_t* const row = rows + i * stride;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t j = 0; j < columns; ++j) {
      sum += weights[j] * static_cast<double>(row[j]);
    }
    sums[i * step] = sum;
  }
}

}  // namespace

void weigh_rows(const std::int16_t* factors, std::size_t step, NarrowRows rows, std::size_t count, std::size_t columns,
                std::int64_t* sums) {
  std::size_t first = 0;
  for (; first + block <= columns; first += block) {
    weigh_block(factors, step, rows.values + first, rows.stride, count, sums + first);
  }
  for (; first < columns; ++first) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) {
      sum += std::int64_t{factors[i * step]} * rows.values[i * rows.stride + first];
    }
    sums[first] = sum;
  }
}

void multiply_rows(NarrowRows rows, std::size_t count, const double* weights, std::size_t columns, double* sums,
                   std::size_t step) {
  multiply_all(rows.values, rows.stride, count, weights, columns, sums, step);
}

}  // namespace tessera
