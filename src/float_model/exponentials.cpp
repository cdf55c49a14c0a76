#include "float_model/exponentials.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "float_model/exponentials.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Calls function(vector, values so far) for all vectors of `values`, the last one filled up with `filler`.
template <class D, class Function>
void for_vectors(D d, const float* values, float* results, std::size_t size, float filler, const Function& function) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    hn::StoreU(function(hn::LoadU(d, values + i)), d, results + i);
  }
  if (i < size) {
    HWY_ALIGN float rest[hn::MaxLanes(d)];
    hn::Store(hn::Set(d, filler), d, rest);
    std::copy(values + i, values + size, rest);
    hn::Store(function(hn::Load(d, rest)), d, rest);
    std::copy(rest, rest + (size - i), results + i);
  }
}

void exponential_vectors(float* values, std::size_t size, float most) {
  const hn::ScalableTag<float> d;
  const auto maximum = hn::Set(d, most);
  for_vectors(d, values, values, size, most, [&](auto value) HWY_ATTR { return hn::Exp(d, hn::Sub(value, maximum)); });
}

void cap_vectors(float* values, std::size_t size, float cap) {
  const hn::ScalableTag<float> d;
  const auto most = hn::Set(d, cap);
  for_vectors(d, values, values, size, 0.0F,
              [&](auto value) HWY_ATTR { return hn::Mul(most, hn::Tanh(d, hn::Div(value, most))); });
}

/// a = z/(1 + exp(z*(linear + cubic*z^2))).
void activation_vectors(const float* z, float* a, std::size_t size, float linear_term, float cubic_term) {
  const hn::ScalableTag<float> d;
  const auto linear = hn::Set(d, linear_term);
  const auto cubic = hn::Set(d, cubic_term);
  const auto one = hn::Set(d, 1.0F);
  const auto largest = hn::Set(d, 88.0F);  // exp of it is finite, and z/(1 + that) next to 0
  for_vectors(d, z, a, size, 0.0F, [&](auto value) HWY_ATTR {
    const auto exponent = hn::Mul(value, hn::MulAdd(cubic, hn::Mul(value, value), linear));
    return hn::Div(value, hn::Add(one, hn::Exp(d, hn::Min(exponent, largest))));
  });
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
namespace {

HWY_EXPORT(exponential_vectors);
HWY_EXPORT(cap_vectors);
HWY_EXPORT(activation_vectors);

// z/2*(1 + tanh(u)) = z/(1 + exp(-2u)): both activations are z/(1 + exp(z*(linear + cubic*z^2))).
struct Curve {
  double linear;
  double cubic;
};
const double gelu_slope = -2 * std::sqrt(2.0 / std::acos(-1.0));
const Curve gelu_curve{gelu_slope, gelu_slope * 0.044715};
constexpr Curve silu_curve{-1, 0};

/// A sum of many values of few bits: each of eight partial sums is in its order, so that the result does not depend on
/// how long vectors are.
double sum_in_order(std::span<const float> values) {
  constexpr std::size_t lanes = 8;
  double sums[lanes] = {};
  const std::size_t full = values.size() / lanes * lanes;
  for (std::size_t i = 0; i < full; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sums[lane] += values[i + lane];
    }
  }
  double sum = 0;
  for (const double part : sums) {
    sum += part;
  }
  for (std::size_t i = full; i < values.size(); ++i) {
    sum += values[i];
  }
  return sum;
}

void activate(std::span<const double> z, std::span<double> a, const Curve& curve) {
  for (std::size_t i = 0; i < z.size(); ++i) {
    a[i] = z[i] / (1 + std::exp(z[i] * (curve.linear + curve.cubic * z[i] * z[i])));
  }
}
void activate(std::span<const float> z, std::span<float> a, const Curve& curve) {
  HWY_DYNAMIC_DISPATCH(activation_vectors)
  (z.data(), a.data(), z.size(), static_cast<float>(curve.linear), static_cast<float>(curve.cubic));
}

}  // namespace

template <>
double exponentials(std::span<double> values, double most) {
  double sum = 0;
  for (double& value : values) {
    value = std::exp(value - most);
    sum += value;
  }
  return sum;
}

template <>
double exponentials(std::span<float> values, float most) {
  HWY_DYNAMIC_DISPATCH(exponential_vectors)(values.data(), values.size(), most);
  return sum_in_order(values);
}

template <>
void soft_cap(std::span<double> values, double cap) {
  for (double& value : values) {
    value = cap * std::tanh(value / cap);
  }
}

template <>
void soft_cap(std::span<float> values, double cap) {
  HWY_DYNAMIC_DISPATCH(cap_vectors)(values.data(), values.size(), static_cast<float>(cap));
}

template <class Real>
void gelu(std::span<const Real> z, std::span<Real> a) {
  activate(z, a, gelu_curve);
}

template <class Real>
void silu(std::span<const Real> z, std::span<Real> a) {
  activate(z, a, silu_curve);
}

template <class Real>
void erf_gelu(std::span<const Real> z, std::span<Real> a) {
  std::ranges::transform(z, a.begin(), [](Real value) {
    return static_cast<Real>(0.5 * value * std::erfc(-static_cast<double>(value) * std::sqrt(0.5)));
  });
}

template <class Real>
void relu(std::span<const Real> z, std::span<Real> a) {
  std::ranges::transform(z, a.begin(), [](Real value) { return std::max(value, Real{0}); });
}

template void erf_gelu(std::span<const float>, std::span<float>);
template void erf_gelu(std::span<const double>, std::span<double>);
template void relu(std::span<const float>, std::span<float>);
template void relu(std::span<const double>, std::span<double>);
template void gelu(std::span<const float>, std::span<float>);
template void gelu(std::span<const double>, std::span<double>);
template void silu(std::span<const float>, std::span<float>);
template void silu(std::span<const double>, std::span<double>);

}  // namespace tessera
#endif  // HWY_ONCE
