#pragma once

#include <span>

/// \file
/// What the float transformer needs of exp. Real is float (vectors, within 2 units in the last place of std::exp) or
/// double (std::exp). Those of float have the same bits on all processors with fused multiply-add, whatever the length
/// of their vectors.

namespace tessera {

/// values = exp(values - most), where `most` is at least any of them. Returns their sum.
template <class Real>
double exponentials(std::span<Real> values, Real most);

/// values = cap*tanh(values/cap).
template <class Real>
void soft_cap(std::span<Real> values, double cap);

/// The tanh form: z/2*(1 + tanh(sqrt(2/pi)*(z + 0.044715*z^3))). Of the same size.
template <class Real>
void gelu(std::span<const Real> z, std::span<Real> a);

/// z/(1 + exp(-z)). Of the same size.
template <class Real>
void silu(std::span<const Real> z, std::span<Real> a);

/// z*Phi(z), by the error function. Of the same size.
template <class Real>
void erf_gelu(std::span<const Real> z, std::span<Real> a);

/// max(z, 0). Of the same size.
template <class Real>
void relu(std::span<const Real> z, std::span<Real> a);

}  // namespace tessera
