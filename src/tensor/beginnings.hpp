#pragma once

#include "tensor/multilinear.hpp"

namespace tessera {

/// A matrix (rows, columns) of which column g is scales[g] in its first ends[g] rows and 0 below: a weight that is no
/// product of one along each dimension. The columns' dimension is an outer one.
struct Beginnings {
  std::vector<std::size_t> ends;  // by column, up to the number of rows
  std::vector<E> scales;
};
/// The multilinear extension of such a matrix at a point: a product for each variable and column.
E evaluate(const Beginnings& matrix, const TensorPoint& point);

}  // namespace tessera
