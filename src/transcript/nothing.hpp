#pragma once

#include "field/extension.hpp"

namespace tessera {

/// The scalar of accounting: a received value that has none. It knows sums and public multiples. There is no product of
/// two: a verifier that multiplies received values other than through its view (VerifierView) does not compile.
struct Nothing {
  constexpr Nothing() = default;
  constexpr Nothing(const E& /*public_value*/) {}
  friend constexpr Nothing operator+(Nothing, Nothing) { return {}; }
  friend constexpr Nothing operator-(Nothing, Nothing) { return {}; }
  friend constexpr Nothing operator*(Nothing, const E&) { return {}; }
  friend constexpr Nothing operator*(const E&, Nothing) { return {}; }
  friend constexpr Nothing operator*(Nothing, F) { return {}; }
  constexpr Nothing operator-() const { return {}; }
  constexpr Nothing& operator+=(Nothing) { return *this; }
  constexpr Nothing& operator-=(Nothing) { return *this; }
};

}  // namespace tessera
