#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "transcript/nothing.hpp"

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
/// pad. It knows sums and public multiples; products are VerifierView's. Which cells it has does not depend on
/// coefficients: those that are 0 stay. S: E, or Nothing for accounting.
template <class S>
struct Affine {
  struct Term {
    HiddenCell cell;
    E coefficient;
  };
  S constant{};
  std::vector<Term> terms;  // ascending cells

  Affine() = default;
  Affine(const S& value) : constant(value) {}
  Affine(const E& value) requires(!std::same_as<S, E>) : constant(value) {}
  Affine(const S& value, std::vector<Term> cells) : constant(value), terms(std::move(cells)) {}

  friend Affine operator+(const Affine& a, const Affine& b) { return combined(a, b, E::one()); }
  friend Affine operator-(const Affine& a, const Affine& b) { return combined(a, b, -E::one()); }
  friend Affine operator*(Affine a, const E& scale) {
    a.constant = a.constant * scale;
    for (Term& term : a.terms) {
      term.coefficient *= scale;
    }
    return a;
  }
  friend Affine operator*(const E& scale, Affine a) { return std::move(a) * scale; }
  friend Affine operator*(Affine a, F scale) { return std::move(a) * E(scale); }
  Affine operator-() const { return *this * -E::one(); }
  Affine& operator+=(const Affine& other) { return *this = *this + other; }
  Affine& operator-=(const Affine& other) { return *this = *this - other; }

 private:
  static Affine combined(const Affine& a, const Affine& b, const E& sign) {
    Affine sum(a.constant + b.constant * sign);
    sum.terms.reserve(a.terms.size() + b.terms.size());
    auto left = a.terms.begin();
    auto right = b.terms.begin();
    while (left != a.terms.end() || right != b.terms.end()) {
      if (right == b.terms.end() || (left != a.terms.end() && left->cell < right->cell)) {
        sum.terms.push_back(*left++);
      } else if (left == a.terms.end() || right->cell < left->cell) {
        sum.terms.push_back({right->cell, sign * right->coefficient});
        ++right;
      } else {
        sum.terms.push_back({left->cell, left->coefficient + sign * right->coefficient});
        ++left, ++right;
      }
    }
    return sum;
  }
};

/// INSTANTIATE(S) for every scalar that verifying code is made for.
#define TESSERA_FOR_SCALARS(INSTANTIATE) \
  INSTANTIATE(E)                         \
  INSTANTIATE(Nothing)                   \
  INSTANTIATE(Affine<E>)                 \
  INSTANTIATE(Affine<Nothing>)

}  // namespace tessera
