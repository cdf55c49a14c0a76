#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera {

/// A matrix of 16-bit integers by rows, `stride` values apart, such as keys or values of a head (feature, position).
struct NarrowRows {
  const std::int16_t* values;
  std::size_t stride;
};

/// sums (columns) = sum_i factors[i * step] * rows[i], exactly: 1 to 2^33 rows.
void weigh_rows(const std::int16_t* factors, std::size_t step, NarrowRows rows, std::size_t count, std::size_t columns,
                std::int64_t* sums);

/// sums[i * step] = product of rows[i] and weights (columns), which are integers; exact if no partial sum passes 2^53.
void multiply_rows(NarrowRows rows, std::size_t count, const double* weights, std::size_t columns, double* sums,
                   std::size_t step);

}  // namespace tessera
