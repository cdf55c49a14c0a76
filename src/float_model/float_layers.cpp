#include "float_model/float_layers.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

#include "arithmetic/integer_product.hpp"
#include "float_model/exponentials.hpp"

namespace tessera {
namespace {

constexpr std::size_t piece = std::size_t{1} << 14U;  // values of an activation that a thread takes at a time

}  // namespace

template <class Real>
std::vector<Real> layer_norm(std::span<const Real> x, std::span<const Real> gamma, std::span<const Real> beta,
                             double epsilon) {
  const std::size_t d = gamma.size();
  std::vector<Real> u(x.size());
#pragma omp parallel for schedule(static) if (x.size() > parallel_work)
  for (std::size_t begin = 0; begin < x.size(); begin += d) {
    const std::span<const Real> row = x.subspan(begin, d);
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(d);
    double variance = 0;
    for (const Real value : row) {
      variance += (value - mean) * (value - mean);
    }
    const double inverse = 1.0 / std::sqrt(variance / static_cast<double>(d) + epsilon);
    for (std::size_t f = 0; f < d; ++f) {
      u[begin + f] = static_cast<Real>((row[f] - mean) * inverse) * gamma[f] + beta[f];
    }
  }
  return u;
}

template <class Real>
std::vector<Real> rms_norm(std::span<const Real> x, std::span<const Real> gamma, double epsilon) {
  const std::size_t d = gamma.size();
  std::vector<Real> u(x.size());
#pragma omp parallel for schedule(static) if (x.size() > parallel_work)
  for (std::size_t begin = 0; begin < x.size(); begin += d) {
    const std::span<const Real> row = x.subspan(begin, d);
    const double squares = std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
    const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(d) + epsilon);
    for (std::size_t f = 0; f < d; ++f) {
      u[begin + f] = static_cast<Real>(row[f] * inverse) * gamma[f];
    }
  }
  return u;
}

template <class Real>
std::vector<Real> activation(ActivationKind kind, const std::vector<Real>& z) {
  std::vector<Real> a(z.size());
  void (*const functions[])(std::span<const Real>, std::span<Real>) = {gelu<Real>, silu<Real>, erf_gelu<Real>,
                                                                       relu<Real>};
  void (*const function)(std::span<const Real>, std::span<Real>) = functions[static_cast<std::size_t>(kind)];
#pragma omp parallel for schedule(static) if (z.size() > parallel_work)
  for (std::size_t first = 0; first < z.size(); first += piece) {
    const std::size_t size = std::min(piece, z.size() - first);
    function(std::span(z).subspan(first, size), std::span(a).subspan(first, size));
  }
  return a;
}

template <class Real>
void rotate(std::span<Real> row, std::span<const Real> cosines, std::span<const Real> sines) {
  const std::size_t half = cosines.size();
  for (std::size_t head = 0; head < row.size(); head += 2 * half) {
    for (std::size_t i = head; i < head + half; ++i) {
      const Real first = row[i];
      const Real second = row[i + half];
      row[i] = first * cosines[i - head] - second * sines[i - head];
      row[i + half] = second * cosines[i - head] + first * sines[i - head];
    }
  }
}

template <class Real>
void add_to(std::vector<Real>& x, const std::vector<Real>& update) {
#pragma omp parallel for simd schedule(static) if (parallel : x.size() > parallel_work)
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] += update[i];
  }
}

#define TESSERA_FOR_REAL(Real)                                                                                        \
  template std::vector<Real> layer_norm(std::span<const Real>, std::span<const Real>, std::span<const Real>, double); \
  template std::vector<Real> rms_norm(std::span<const Real>, std::span<const Real>, double);                          \
  template std::vector<Real> activation(ActivationKind, const std::vector<Real>&);                                    \
  template void rotate(std::span<Real>, std::span<const Real>, std::span<const Real>);                                \
  template void add_to(std::vector<Real>&, const std::vector<Real>&)
TESSERA_FOR_REAL(float);
TESSERA_FOR_REAL(double);

}  // namespace tessera
