#pragma once

#include <span>
#include <string_view>
#include <vector>

/// \file
/// Steps of the float64 transformer on matrices (row, feature).

namespace tessera {

/// Products of numbers below which a step is not worth waking other threads.
inline constexpr std::size_t parallel_products = std::size_t{1} << 22U;

/// A matrix W (out, in) as a checkpoint has it; products are of values*factor in float64.
struct FloatMatrix {
  std::span<const float> values;
  double factor = 1;
};

/// Y (rows, out) = X (rows, in) * W^T + bias in float64; no bias if that is empty. On OpenMP's threads, each of which
/// widens the rows of W that it multiplies with: of few rows X in registers, of many a slice of W at a time.
std::vector<double> linear(std::span<const double> x, const FloatMatrix& weight, std::size_t in,
                           std::span<const double> bias = {});

/// (x - mean)/std*gamma + beta of every row.
std::vector<double> layer_norm(std::span<const double> x, std::span<const double> gamma, std::span<const double> beta,
                               double epsilon);

/// x/sqrt(mean of x^2)*gamma of every piece as long as gamma: rows, or the heads of rows.
std::vector<double> rms_norm(std::span<const double> x, std::span<const double> gamma, double epsilon);

/// The activation of that name: "gelu" (tanh form) or "silu". Throws std::logic_error for another.
std::vector<double> activation(std::string_view name, const std::vector<double>& z);

/// Turns pairs (i, i + m/2) of every head of one row by the cosines and sines of its position, m/2 each.
void rotate(std::span<double> row, std::span<const double> cosines, std::span<const double> sines);

/// x += update.
void add_to(std::vector<double>& x, const std::vector<double>& update);

}  // namespace tessera
