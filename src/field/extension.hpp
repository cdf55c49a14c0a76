#pragma once

#include "field/goldilocks.hpp"

namespace tessera {

/// The quadratic extension E = F[X]/(X^2 - 7) of 2^128 elements, from which all challenges come.
/// Element c0 + c1*X. Plain data: two canonical F values.
struct E {
  F c0;
  F c1;

  static constexpr std::uint64_t non_residue = 7;

  constexpr E() = default;
  constexpr E(F a, F b) : c0(a), c1(b) {}
  constexpr explicit E(F a) : c0(a) {}
  static constexpr E zero() { return {}; }
  static constexpr E one() { return E(F::one()); }
  static constexpr E from_signed(std::int64_t value) { return E(F::from_signed(value)); }
  static constexpr E from_unsigned(std::uint64_t value) { return E(F::from_unsigned(value)); }

  friend constexpr E operator+(E a, E b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
  friend constexpr E operator-(E a, E b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
  friend constexpr E operator*(E a, E b) {
    using u128 = unsigned __int128;
    const F c1c1 = a.c1 * b.c1;
    // 7 * c1c1 < 2^67 and the product < 2^128 - 2^97: the sum does not overflow 128 bits
    const u128 real = static_cast<u128>(a.c0.value()) * b.c0.value() + static_cast<u128>(c1c1.value()) * non_residue;
    return {F::reduce128(real), a.c0 * b.c1 + a.c1 * b.c0};
  }
  friend constexpr E operator*(E a, F b) { return {a.c0 * b, a.c1 * b}; }
  friend constexpr E operator*(F a, E b) { return b * a; }
  friend constexpr E operator+(E a, F b) { return {a.c0 + b, a.c1}; }
  friend constexpr E operator-(E a, F b) { return {a.c0 - b, a.c1}; }
  constexpr E operator-() const { return {-c0, -c1}; }
  constexpr E& operator+=(E other) { return *this = *this + other; }
  constexpr E& operator-=(E other) { return *this = *this - other; }
  constexpr E& operator*=(E other) { return *this = *this * other; }
  constexpr E& operator*=(F other) { return *this = *this * other; }
  friend constexpr bool operator==(const E&, const E&) = default;

  /// 1/x through the norm c0^2 - 7*c1^2; 0 for x = 0.
  [[nodiscard]] constexpr E inverse() const {
    const F norm = c0 * c0 - F::from_canonical(non_residue) * c1 * c1;
    const F scale = norm.inverse();
    return {c0 * scale, -(c1 * scale)};
  }
};

static_assert(sizeof(E) == 16);

/// 2^exponent as an element of F.
constexpr F two_to_the(unsigned exponent) { return F::from_canonical(2).power(exponent); }
/// The inverse of 2^exponent.
constexpr F two_to_the_minus(unsigned exponent) { return two_to_the(exponent).inverse(); }

}  // namespace tessera
