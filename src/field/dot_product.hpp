#pragma once

#include <span>
#include "field/extension.hpp"

namespace tessera {

/// A sum of products of elements of E, reduced once: three sums of integers of up to 192 bits.
class DotProduct {
 public:
  constexpr void add(E a, E b) {
    straight_.add(a.c0, b.c0);
    through_root_.add(a.c1, b.c1);
    crossed_.add(a.c0, b.c1);
    crossed_.add(a.c1, b.c0);
  }
  [[nodiscard]] constexpr E value() const {
    return {straight_.value() + F::from_canonical(E::non_residue) * through_root_.value(), crossed_.value()};
  }

 private:
  struct Sum {
    unsigned __int128 low = 0;
    std::uint64_t carries = 0;
    constexpr void add(F a, F b) {
      const auto product = static_cast<unsigned __int128>(a.value()) * b.value();
      low += product;
      carries += low < product ? 1 : 0;
    }
    /// 2^128 = -2^32 modulo p.
    [[nodiscard]] constexpr F value() const {
      return F::reduce128(low) - F::reduce128(static_cast<unsigned __int128>(carries) << 32);
    }
  };
  Sum straight_, through_root_, crossed_;
};

/// sum a[i] * b[i]; as many of both.
constexpr E dot(std::span<const E> a, std::span<const E> b) {
  DotProduct sum;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum.add(a[i], b[i]);
  }
  return sum.value();
}

}  // namespace tessera
