#pragma once

#include <cstdint>
#include <vector>

#include "field/extension.hpp"

namespace tessera {

/// A committed random element of E that hides what is sent: a pad, a factor of a committed product of two pads, or such
/// a product.
struct HiddenCell {
  enum class Kind : std::uint32_t { pad, left, right, product };
  Kind kind = Kind::pad;
  std::uint32_t index = 0;
  friend bool operator==(const HiddenCell&, const HiddenCell&) = default;
  friend bool operator<(const HiddenCell& a, const HiddenCell& b) {
    return a.kind != b.kind ? a.kind < b.kind : a.index < b.index;
  }
};

/// The scalar of hiding mode: constant + sum of coefficient * cell. A received value m + pad is known as that minus the
/// pad. It knows sums and public multiples; there is no product of two: a verifier that multiplies received values
/// other than through its view (VerifierView) does not compile. Which cells it has does not depend on coefficients:
/// those that are 0 stay.
struct Affine {
  struct Term {
    HiddenCell cell;
    E coefficient;
  };
  E constant{};
  std::vector<Term> terms;  // ascending cells

  Affine() = default;
  Affine(const E& value) : constant(value) {}
  Affine(const E& value, std::vector<Term> cells) : constant(value), terms(std::move(cells)) {}

  friend Affine operator+(const Affine& a, const Affine& b);
  friend Affine operator-(const Affine& a, const Affine& b);
  friend Affine operator*(Affine a, const E& scale);
  friend Affine operator*(const E& scale, Affine a) { return std::move(a) * scale; }
  friend Affine operator*(Affine a, F scale) { return std::move(a) * E(scale); }
  Affine operator-() const { return *this * -E::one(); }
  Affine& operator+=(const Affine& other) { return *this = *this + other; }
  Affine& operator-=(const Affine& other) { return *this = *this - other; }
};

/// INSTANTIATE(S) for every scalar that verifying code is made for.
#define TESSERA_FOR_SCALARS(INSTANTIATE) \
  INSTANTIATE(E)                         \
  INSTANTIATE(Affine)

}  // namespace tessera
