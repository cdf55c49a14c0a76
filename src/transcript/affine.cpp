#include "transcript/affine.hpp"

namespace tessera {
namespace {

/// a + sign * b.
Affine combined(const Affine& a, const Affine& b, const E& sign) {
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

}  // namespace

Affine operator+(const Affine& a, const Affine& b) { return combined(a, b, E::one()); }

Affine operator-(const Affine& a, const Affine& b) { return combined(a, b, -E::one()); }

Affine operator*(Affine a, const E& scale) {
  a.constant = a.constant * scale;
  for (Affine::Term& term : a.terms) {
    term.coefficient *= scale;
  }
  return a;
}

}  // namespace tessera
