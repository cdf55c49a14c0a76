#pragma once

#include <span>
#include <vector>

#include "arithmetic/tables.hpp"

/// \file
/// Steps of the float transformer on matrices (row, feature). Real is float or double.

namespace tessera {

/// Products of numbers below which a step is not worth waking other threads.
inline constexpr std::size_t parallel_products = std::size_t{1} << 22U;

/// A matrix W (out, in) as a checkpoint has it; products are of values*factor.
struct FloatMatrix {
  std::span<const float> values;
  double factor = 1;
};

/// Y (rows, out) = X (rows, in) * W^T + bias, in Real; no bias if that is empty. On OpenMP's threads. In float64, each
/// thread widens the rows of W that it multiplies with: of few rows X in cache, of many a slice at a time. In float32,
/// and with few rows X, each sum is taken in the order of the columns, so that the bits are the same for any number of
/// threads and on any processor with fused multiply-add.
template <class Real>
std::vector<Real> linear(std::span<const Real> x, const FloatMatrix& weight, std::size_t in,
                         std::span<const Real> bias = {});

/// A matrix in rows that are `stride` elements apart.
template <class Real>
struct StridedMatrix {
  Real* values;
  std::size_t stride;
};
/// Sizes of C (rows, columns) = A (rows, inner) * B, or B^T if `transposed`.
struct ProductSizes {
  bool transposed;
  std::size_t rows, columns, inner;
};

/// C = A*B on this thread alone, in an order that depends on the sizes only, with bits as reproducible as those of
/// linear().
void multiply_in_order(const ProductSizes& sizes, StridedMatrix<const float> a, StridedMatrix<const float> b,
                       StridedMatrix<float> c);

/// (x - mean)/std*gamma + beta of every row; mean and std in float64.
template <class Real>
std::vector<Real> layer_norm(std::span<const Real> x, std::span<const Real> gamma, std::span<const Real> beta,
                             double epsilon);

/// x/sqrt(mean of x^2)*gamma of every piece as long as gamma: rows, or the heads of rows; the mean in float64.
template <class Real>
std::vector<Real> rms_norm(std::span<const Real> x, std::span<const Real> gamma, double epsilon);

/// The values of an activation.
template <class Real>
std::vector<Real> activation(ActivationKind kind, const std::vector<Real>& z);

/// Turns pairs (i, i + m/2) of every head of one row by the cosines and sines of its position, m/2 each.
template <class Real>
void rotate(std::span<Real> row, std::span<const Real> cosines, std::span<const Real> sines);

/// x += update.
template <class Real>
void add_to(std::vector<Real>& x, const std::vector<Real>& update);

}  // namespace tessera
