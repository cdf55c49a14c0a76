#include "model/exponentials.hpp"

#include <cmath>
#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "model/exponentials.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// How many values it has done: those that fill vectors. Adds them to `sum`.
std::size_t exponential_vectors(float* values, std::size_t size, float most, double& sum) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto maximum = hn::Set(d, most);
  auto sums = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto value = hn::Exp(d, hn::Sub(hn::LoadU(d, values + i), maximum));
    hn::StoreU(value, d, values + i);
    sums = hn::Add(sums, value);
  }
  sum += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, sums)));
  return i;
}

/// a = z/(1 + exp(z*(linear + cubic*z^2))).
std::size_t activation_vectors(const float* z, float* a, std::size_t size, float linear_term, float cubic_term) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto linear = hn::Set(d, linear_term);
  const auto cubic = hn::Set(d, cubic_term);
  const auto one = hn::Set(d, 1.0F);
  const auto largest = hn::Set(d, 88.0F);  // exp of it is finite, and z/(1 + that) next to 0
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto value = hn::LoadU(d, z + i);
    const auto exponent = hn::Mul(value, hn::MulAdd(cubic, hn::Mul(value, value), linear));
    hn::StoreU(hn::Div(value, hn::Add(one, hn::Exp(d, hn::Min(exponent, largest)))), d, a + i);
  }
  return i;
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
namespace {

HWY_EXPORT(exponential_vectors);
HWY_EXPORT(activation_vectors);

// z/2*(1 + tanh(u)) = z/(1 + exp(-2u)): both activations are z/(1 + exp(z*(linear + cubic*z^2))).
struct Curve {
  double linear;
  double cubic;
};
const double gelu_slope = -2 * std::sqrt(2.0 / std::acos(-1.0));
const Curve gelu_curve{gelu_slope, gelu_slope * 0.044715};
constexpr Curve silu_curve{-1, 0};

std::size_t vectors(std::span<double>, double, double&) { return 0; }
std::size_t vectors(std::span<float> values, float most, double& sum) {
  return HWY_DYNAMIC_DISPATCH(exponential_vectors)(values.data(), values.size(), most, sum);
}
std::size_t vectors(std::span<const double>, std::span<double>, const Curve&) { return 0; }
std::size_t vectors(std::span<const float> z, std::span<float> a, const Curve& curve) {
  return HWY_DYNAMIC_DISPATCH(activation_vectors)(z.data(), a.data(), z.size(), static_cast<float>(curve.linear),
                                                  static_cast<float>(curve.cubic));
}

template <class Real>
void activate(std::span<const Real> z, std::span<Real> a, const Curve& curve) {
  const auto linear = static_cast<Real>(curve.linear);
  const auto cubic = static_cast<Real>(curve.cubic);
  for (std::size_t i = vectors(z, a, curve); i < z.size(); ++i) {
    a[i] = z[i] / (1 + std::exp(z[i] * (linear + cubic * z[i] * z[i])));
  }
}

}  // namespace

template <class Real>
double exponentials(std::span<Real> values, Real most) {
  double sum = 0;
  for (std::size_t i = vectors(values, most, sum); i < values.size(); ++i) {
    values[i] = std::exp(values[i] - most);
    sum += values[i];
  }
  return sum;
}

template <class Real>
void gelu(std::span<const Real> z, std::span<Real> a) {
  activate(z, a, gelu_curve);
}

template <class Real>
void silu(std::span<const Real> z, std::span<Real> a) {
  activate(z, a, silu_curve);
}

template double exponentials(std::span<float>, float);
template double exponentials(std::span<double>, double);
template void gelu(std::span<const float>, std::span<float>);
template void gelu(std::span<const double>, std::span<double>);
template void silu(std::span<const float>, std::span<float>);
template void silu(std::span<const double>, std::span<double>);

}  // namespace tessera
#endif  // HWY_ONCE
