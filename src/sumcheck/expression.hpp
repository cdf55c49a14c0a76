#pragma once

#include <type_traits>

#include "field/extension.hpp"

namespace tessera {

/// A relation's formula as a type: what relation(Symbols{}) returns. Kernels read it, so that a machine's vectors need
/// not be known where the relation is written, and products can stay unreduced until a value is needed.
namespace expression {

struct Node {};

}  // namespace expression

template <class T>
concept Expression = std::is_base_of_v<expression::Node, T>;

namespace expression {

/// Factor k's value.
struct Value : Node {
  std::size_t k;
};
template <Expression A, Expression B>
struct Sum : Node {
  A a;
  B b;
};
template <Expression A, Expression B>
struct Difference : Node {
  A a;
  B b;
};
template <Expression A, Expression B>
struct Product : Node {
  A a;
  B b;
};
/// scale * a.
template <Expression A>
struct Multiple : Node {
  E scale;
  A a;
};
/// term(0) + .. + term(count - 1).
template <class Term>
struct SumOf : Node {
  std::size_t count;
  Term term;
};

/// Stands for the factors' values.
struct Symbols {
  constexpr Value operator[](std::size_t k) const { return {{}, k}; }
};

template <Expression A, Expression B>
constexpr Sum<A, B> operator+(const A& a, const B& b) {
  return {{}, a, b};
}
template <Expression A, Expression B>
constexpr Difference<A, B> operator-(const A& a, const B& b) {
  return {{}, a, b};
}
template <Expression A, Expression B>
constexpr Product<A, B> operator*(const A& a, const B& b) {
  return {{}, a, b};
}
template <Expression A>
constexpr Multiple<A> operator*(const E& scale, const A& a) {
  return {{}, scale, a};
}
template <Expression A>
constexpr Multiple<A> operator*(const A& a, const F& scale) {
  return {{}, E(scale), a};
}

}  // namespace expression
}  // namespace tessera
