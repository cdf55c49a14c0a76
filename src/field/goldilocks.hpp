#pragma once

#include <cstdint>

namespace tessera {

/// The prime field F with p = 2^64 - 2^32 + 1 ("Goldilocks"). Values are kept canonical (< p), so equality is
/// bit equality and serialisation needs no reduction.
class F {
 public:
  static constexpr std::uint64_t modulus = 0xFFFFFFFF00000001ULL;
  /// p - 1 = 2^32 * (2^32 - 1): the largest power of two dividing the order of the multiplicative group.
  static constexpr unsigned two_adicity = 32;

  constexpr F() = default;
  /// Requires value < p.
  static constexpr F from_canonical(std::uint64_t value) {
    F f;
    f.value_ = value;
    return f;
  }
  /// Any unsigned value, reduced mod p.
  static constexpr F from_unsigned(std::uint64_t value) {
    return from_canonical(value >= modulus ? value - modulus : value);
  }
  /// A signed integer z as z mod p. Requires |z| < p, which every int64 satisfies.
  static constexpr F from_signed(std::int64_t value) {
    return from_canonical(static_cast<std::uint64_t>(value) + (modulus & static_cast<std::uint64_t>(value >> 63)));
  }
  /// value mod p for a 128-bit value: 2^64 = 2^32 - 1 and 2^96 = -1 (mod p).
  static constexpr F reduce128(unsigned __int128 value) {
    const auto low = static_cast<std::uint64_t>(value);
    const auto high = static_cast<std::uint64_t>(value >> 64);
    const std::uint64_t high_high = high >> 32;
    const std::uint64_t high_low = high & epsilon;
    // Masks instead of branches: on random values every second branch would be mispredicted.
    std::uint64_t t0 = 0;
    const bool borrow = __builtin_sub_overflow(low, high_high, &t0);
    t0 -= epsilon & mask(borrow);  // the borrow stands for 2^64 = epsilon (mod p)
    std::uint64_t result = 0;
    const bool carry = __builtin_add_overflow(t0, high_low * epsilon, &result);
    result += epsilon & mask(carry);
    return from_canonical(result - (modulus & mask(result >= modulus)));
  }

  [[nodiscard]] constexpr std::uint64_t value() const { return value_; }

  /// a - (p - b); the intermediate is p, not canonical, for b = 0, and the result still is.
  friend constexpr F operator+(F a, F b) { return a - from_canonical(modulus - b.value_); }
  friend constexpr F operator-(F a, F b) {
    std::uint64_t difference = 0;
    const bool borrow = __builtin_sub_overflow(a.value_, b.value_, &difference);
    return from_canonical(difference + (modulus & mask(borrow)));
  }
  friend constexpr F operator*(F a, F b) { return reduce128(static_cast<unsigned __int128>(a.value_) * b.value_); }
  constexpr F operator-() const { return F{} - *this; }
  constexpr F& operator+=(F other) { return *this = *this + other; }
  constexpr F& operator-=(F other) { return *this = *this - other; }
  constexpr F& operator*=(F other) { return *this = *this * other; }
  friend constexpr bool operator==(F, F) = default;

  [[nodiscard]] constexpr F power(std::uint64_t exponent) const {
    F result = from_canonical(1);
    F base = *this;
    for (; exponent != 0; exponent >>= 1) {
      if ((exponent & 1) != 0) {
        result *= base;
      }
      base *= base;
    }
    return result;
  }
  /// 1/x; 0 for x = 0 (callers that divide by received values check for zero first).
  [[nodiscard]] constexpr F inverse() const { return power(modulus - 2); }

  static constexpr F zero() { return {}; }
  static constexpr F one() { return from_canonical(1); }
  /// A primitive 2^log_order-th root of unity, log_order <= 32. 7 generates the multiplicative group.
  static constexpr F root_of_unity(unsigned log_order) { return from_canonical(7).power((modulus - 1) >> log_order); }

 private:
  static constexpr std::uint64_t epsilon = 0xFFFFFFFFULL;  // 2^64 mod p
  static constexpr std::uint64_t mask(bool all) { return std::uint64_t{0} - static_cast<std::uint64_t>(all); }
  std::uint64_t value_ = 0;
};

static_assert(sizeof(F) == 8);

}  // namespace tessera
