#include "model/float_layers.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "arithmetic/integer_product.hpp"

namespace tessera {
namespace {

int blas_int(std::size_t value) { return static_cast<int>(value); }

double gelu(double z) {
  static const double root = std::sqrt(2.0 / std::acos(-1.0));
  return 0.5 * z * (1.0 + std::tanh(root * (z + 0.044715 * z * z * z)));
}

double silu(double z) { return z / (1.0 + std::exp(-z)); }

}  // namespace

std::vector<double> layer_norm(std::span<const double> x, std::span<const double> gamma, std::span<const double> beta,
                               double epsilon) {
  const std::size_t d = gamma.size();
  std::vector<double> u(x.size());
#pragma omp parallel for schedule(static) if (x.size() > parallel_work)
  for (std::size_t begin = 0; begin < x.size(); begin += d) {
    const std::span<const double> row = x.subspan(begin, d);
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(d);
    double variance = 0;
    for (const double value : row) {
      variance += (value - mean) * (value - mean);
    }
    const double inverse = 1.0 / std::sqrt(variance / static_cast<double>(d) + epsilon);
    for (std::size_t f = 0; f < d; ++f) {
      u[begin + f] = (row[f] - mean) * inverse * gamma[f] + beta[f];
    }
  }
  return u;
}

std::vector<double> rms_norm(std::span<const double> x, std::span<const double> gamma, double epsilon) {
  const std::size_t d = gamma.size();
  std::vector<double> u(x.size());
#pragma omp parallel for schedule(static) if (x.size() > parallel_work)
  for (std::size_t begin = 0; begin < x.size(); begin += d) {
    const std::span<const double> row = x.subspan(begin, d);
    const double squares = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(d) + epsilon);
    for (std::size_t f = 0; f < d; ++f) {
      u[begin + f] = row[f] * inverse * gamma[f];
    }
  }
  return u;
}

std::vector<double> activation(std::string_view name, const std::vector<double>& z) {
  if (name != "gelu" && name != "silu") {
    throw std::logic_error("activation " + std::string(name) + ": not known");
  }
  std::vector<double> a(z.size());
  double (*const function)(double) = name == "gelu" ? gelu : silu;
#pragma omp parallel for schedule(static) if (z.size() > parallel_work)
  for (std::size_t i = 0; i < z.size(); ++i) {
    a[i] = function(z[i]);
  }
  return a;
}

void rotate(std::span<double> row, std::span<const double> cosines, std::span<const double> sines) {
  const std::size_t half = cosines.size();
  for (std::size_t head = 0; head < row.size(); head += 2 * half) {
    for (std::size_t i = head; i < head + half; ++i) {
      const double first = row[i];
      const double second = row[i + half];
      row[i] = first * cosines[i - head] - second * sines[i - head];
      row[i + half] = second * cosines[i - head] + first * sines[i - head];
    }
  }
}

void add_to(std::vector<double>& x, const std::vector<double>& update) {
  cblas_daxpy(blas_int(x.size()), 1.0, update.data(), 1, x.data(), 1);
}

}  // namespace tessera
