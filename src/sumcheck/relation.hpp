#pragma once

#include <concepts>
#include <span>

#include "field/extension.hpp"
#include "sumcheck/expression.hpp"

namespace tessera {

/// The summand of a sum-check, written once for verifier and prover: a polynomial of total degree `degree` in the
/// values of its factors (multilinear polynomials over the same variables). `relation(v)` works on field elements v[k]
/// and on the symbols of expression.hpp, from which round_kernels-inl.hpp makes its vector kernel; constants of a
/// relation are elements of E or F. With an eq factor, `degree` does not count it.
///
/// A relation whose terms are all products of `degree` >= 2 factors may say so: static constexpr bool homogeneous =
/// true.
template <class R>
concept Relation = requires(const R relation, std::span<const E> values) {
  { relation.degree() } -> std::convertible_to<std::size_t>;
  { relation.factors() } -> std::convertible_to<std::size_t>;
  { relation(values) } -> std::same_as<E>;
};

/// What the prover makes of a relation (round_kernel.hpp): every relation declares round_kernel(const Relation&).
struct RoundKernel;

template <class R>
constexpr bool is_homogeneous() {
  if constexpr (requires { R::homogeneous; }) {
    return R::homogeneous;
  }
  return false;
}

/// Whether sums are often known before their first round. A relation that says so has kernels for it:
/// static constexpr bool begins_with_claim = true.
template <class R>
constexpr bool begins_with_claim() {
  return requires { R::begins_with_claim; };
}

/// Whether sums may have an eq factor. A relation whose sums have none has no vector kernels for it, which take the
/// compiler long: static constexpr bool weighted = false.
template <class R>
constexpr bool may_be_weighted() {
  if constexpr (requires { R::weighted; }) {
    return R::weighted;
  }
  return true;
}

/// term(0) + .. + term(count - 1), count >= 1.
template <class Term>
auto sum_of(std::size_t count, const Term& term) {
  if constexpr (Expression<decltype(term(std::size_t{0}))>) {
    return expression::SumOf<Term>{{}, count, term};
  } else {
    auto sum = term(std::size_t{0});
    for (std::size_t k = 1; k < count; ++k) {
      sum = sum + term(k);
    }
    return sum;
  }
}

}  // namespace tessera
