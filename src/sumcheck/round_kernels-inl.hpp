// Vector kernels of relations, compiled once for every instruction set. A file that has some, `*_prove.cpp`:
//
//   #include "<the relation's header>"
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "<this file>"
//   #include <hwy/foreach_target.h>
//   #include "sumcheck/round_kernels-inl.hpp"
//   TESSERA_ROUND_KERNEL(TheRelation)
//
// defines round_kernel(const TheRelation&).
#if defined(TESSERA_ROUND_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_ROUND_KERNELS_INL
#undef TESSERA_ROUND_KERNELS_INL
#else
#define TESSERA_ROUND_KERNELS_INL
#endif

#include <utility>

#include "field/vector_interleaved-inl.hpp"
#include "field/written_out-inl.hpp"
#include "sumcheck/round_kernel.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

/// Reads expressions. Static members, because they call each other before all of them are known.
struct Reader {
  /// The value on elements v[k].
  static HWY_INLINE V value(const expression::Value& node, const V* v) { return v[node.k]; }
  template <class A, class B>
  static HWY_INLINE V value(const expression::Sum<A, B>& node, const V* v) {
    return add(value(node.a, v), value(node.b, v));
  }
  template <class A, class B>
  static HWY_INLINE V value(const expression::Difference<A, B>& node, const V* v) {
    return subtract(value(node.a, v), value(node.b, v));
  }
  template <class Term>
  static HWY_INLINE V value(const expression::SumOf<Term>& node, const V* v) {
    V sum = value(node.term(0), v);
    for (std::size_t k = 1; k < node.count; ++k) {
      sum = add(sum, value(node.term(k), v));
    }
    return sum;
  }
  template <class Node>
  static HWY_INLINE V value(const Node& node, const V* v) {
    return canonical(weak(node, v));
  }

  /// Any representative of the value.
  template <class A, class B>
  static HWY_INLINE V weak(const expression::Product<A, B>& node, const V* v) {
    return reduce_weak(multiply_elements_wide(weak(node.a, v), element_factor(value(node.b, v))));
  }
  template <class A>
  static HWY_INLINE V weak(const expression::Multiple<A>& node, const V* v) {
    return reduce_weak(multiply_elements_wide(weak(node.a, v), element_factor(node.scale)));
  }
  template <class Node>
  static HWY_INLINE V weak(const Node& node, const V* v) {
    return value(node, v);
  }

  /// sum + node.
  template <class A, class B>
  static HWY_INLINE ProductSum add_to(ProductSum sum, const expression::Product<A, B>& node, const V* v) {
    return add_elements_product(sum, weak(node.a, v), value(node.b, v));
  }
  template <class A, class B>
  static HWY_INLINE ProductSum add_to(ProductSum sum, const expression::Sum<A, B>& node, const V* v) {
    return add_to(add_to(sum, node.a, v), node.b, v);
  }
  template <class Term>
  static HWY_INLINE ProductSum add_to(ProductSum sum, const expression::SumOf<Term>& node, const V* v) {
    for (std::size_t k = 0; k < node.count; ++k) {
      sum = add_to(sum, node.term(k), v);
    }
    return sum;
  }
  template <class Node>
  static HWY_INLINE ProductSum add_to(ProductSum sum, const Node& node, const V* v) {
    return {add_product(sum.straight, value(node, v), constant(1)), sum.crossed};
  }

  /// sum + weight*node.
  template <class Node>
  static HWY_INLINE ProductSum add_to(ProductSum sum, const Node& node, const V* v, ElementFactor weight) {
    const V a = weak(node, v);
    return {add_product(add_product(sum.straight, hn::DupEven(a), weight.straight), hn::DupOdd(a), weight.crossed),
            sum.crossed};
  }
};

/// A product of values: if its factors are all those of the relation, the weight of a pair goes to one of them.
template <class Node>
inline constexpr bool multiplies_values = false;
template <>
inline constexpr bool multiplies_values<expression::Value> = true;
template <class A, class B>
inline constexpr bool multiplies_values<expression::Product<A, B>> = multiplies_values<A>&& multiplies_values<B>;

/// What the pairs x, x+1, .. of a table run from and to.
HWY_INLINE Halves load_pairs(const E* table, std::size_t x) {
  return split_pairs(load_elements(table + 2 * x), load_elements(table + 2 * x + elements_per_vector()));
}
/// Read by then: a processor does not foresee the streams of several tables.
constexpr std::size_t elements_ahead = 64;

/// What the pairs x, x+1, .. of a table run from and to, once its lowest variable is bound here; the bound table is
/// stored.
HWY_INLINE Halves bind_pairs(const E* table, E* bound, std::size_t x, ElementFactor challenge) {
  const std::size_t n = elements_per_vector();
  constexpr std::size_t line = 64 / sizeof(E);
  for (std::size_t i = 0; i < 4 * n; i += line) {
    __builtin_prefetch(table + 4 * x + elements_ahead + i);
  }
  const Halves first = load_pairs(table, 2 * x);
  const Halves second = load_pairs(table, 2 * x + n);
  const V low = elements_on_line(first.even, first.odd, challenge);
  const V high = elements_on_line(second.even, second.odd, challenge);
  store_elements(low, bound + 2 * x);
  store_elements(high, bound + 2 * x + n);
  return split_pairs(low, high);
}

/// body(k) for each factor k of the relation, written out where their number is known when this is compiled.
template <class R, class Body>
HWY_INLINE void for_each_factor(const R& relation, const Body& body) {
  if constexpr (requires { std::integral_constant<std::size_t, R::factors()>{}; }) {
    unrolled<R::factors()>(body);
  } else {
    for (std::size_t k = 0; k < relation.factors(); ++k) {
      body(k);
    }
  }
}

/// Adds the sums of the pairs first .. last-1, which share a high weight.
template <bool binding, bool weighted, bool with_one, class R>
HWY_INLINE void sum_block(const R& relation, const RoundRun& run, std::size_t first, std::size_t last, V* totals) {
  constexpr std::size_t degree = R::degree();
  const expression::Symbols symbols;
  const auto formula = relation(symbols);
  constexpr bool weigh_factor = [] {
    if constexpr (weighted && multiplies_values<std::decay_t<decltype(formula)>>) {
      return R::factors() == degree;
    }
    return false;
  }();
  const ElementFactor challenge = element_factor(run.challenge);
  ProductSum sums[degree + 1];
  unrolled<degree + 1>([&](auto at) TESSERA_WRITTEN_OUT { sums[at] = no_products(); });
  for (std::size_t x = first; x < last; x += elements_per_vector()) {
    V value[max_factors];
    V step[max_factors];
    for_each_factor(relation, [&](auto k) TESSERA_WRITTEN_OUT {
      const Halves pair =
          binding ? bind_pairs(run.tables[k], run.bound[k], x, challenge) : load_pairs(run.tables[k], x);
      value[k] = pair.even;
      step[k] = subtract(pair.odd, pair.even);
    });
    ElementFactor weight{};
    if constexpr (weighted) {
      weight = {load_elements(run.weights.low() + (x - first)), load_elements(run.weights.low_crossed() + (x - first))};
    }
    if constexpr (weigh_factor) {
      value[0] = multiply_elements(value[0], weight);
      step[0] = multiply_elements(step[0], weight);
    }
    unrolled<degree + 1>([&](auto at) TESSERA_WRITTEN_OUT {
      if constexpr (at != 1 || with_one) {
        const V* v = is_homogeneous<R>() && at == degree ? step : value;
        if constexpr (weighted && !weigh_factor) {
          sums[at] = carried(Reader::add_to(sums[at], formula, v, weight));
        } else {
          sums[at] = carried(Reader::add_to(sums[at], formula, v));
        }
      }
      if constexpr (at + (is_homogeneous<R>() ? 1 : 0) < degree) {
        for_each_factor(relation, [&](auto k) TESSERA_WRITTEN_OUT { value[k] = add(value[k], step[k]); });
      }
    });
  }
  unrolled<degree + 1>([&](auto at) TESSERA_WRITTEN_OUT {
    if constexpr (at != 1 || with_one) {
      const V sum = reduce(sums[at]);
      totals[at] =
          add(totals[at],
              weighted ? multiply_elements(
                             sum, element_factor(run.weights.high()[(run.first_weight + first) / run.weights.block()]))
                       : sum);
    }
  });
}

template <bool binding, bool with_one, class R>
HWY_INLINE void sum_run(const R& relation, const RoundRun& run, RoundSums& sums) {
  V totals[R::degree() + 1];
  unrolled<R::degree() + 1>([&](auto at) TESSERA_WRITTEN_OUT { totals[at] = constant(0); });
  if constexpr (!may_be_weighted<R>()) {
    sum_block<binding, false, with_one>(relation, run, 0, run.pairs, totals);
  } else if (run.weights.empty()) {
    sum_block<binding, false, with_one>(relation, run, 0, run.pairs, totals);
  } else {
    const std::size_t block = std::min(run.weights.block(), run.pairs);
    for (std::size_t first = 0; first < run.pairs; first += block) {
      sum_block<binding, true, with_one>(relation, run, first, first + block, totals);
    }
  }
  unrolled<R::degree() + 1>([&](auto at) TESSERA_WRITTEN_OUT {
    if (at != 1 || run.with_one) {
      sums[at] += sum_elements(totals[at]);
    }
  });
}

/// False if the run does not fill vectors, or is of a rare kind.
template <class R>
HWY_INLINE bool vector_run(const R& relation, const RoundRun& run, RoundSums& sums) {
  // h(1) is not wanted once the claim is known, but where a coordinate of the eq factor is 0
  if (run.pairs % elements_per_vector() != 0 || (run.bound != nullptr && run.with_one) ||
      !(may_be_weighted<R>() || run.weights.empty())) {
    return false;
  }
  if (run.bound != nullptr) {
    sum_run<true, false>(relation, run, sums);
  } else if constexpr (begins_with_claim<R>()) {
    if (run.with_one) {
      sum_run<false, true>(relation, run, sums);
    } else {
      sum_run<false, false>(relation, run, sums);
    }
  } else {
    sum_run<false, true>(relation, run, sums);  // no code for rounds that are rare
  }
  return true;
}

#else

template <class R>
HWY_INLINE bool vector_run(const R& /*relation*/, const RoundRun& /*run*/, RoundSums& /*sums*/) {
  return false;
}

#endif
}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef TESSERA_ROUND_KERNEL_HERE
#define TESSERA_ROUND_KERNEL_HERE(R)                                                                                \
  HWY_BEFORE_NAMESPACE();                                                                                           \
  namespace tessera::HWY_NAMESPACE {                                                                                \
  bool run_##R(const R& relation, const RoundRun& run, RoundSums& sums) { return vector_run(relation, run, sums); } \
  }                                                                                                                 \
  HWY_AFTER_NAMESPACE();
#undef TESSERA_ROUND_KERNEL
#if HWY_ONCE
#define TESSERA_ROUND_KERNEL(R)                                                              \
  TESSERA_ROUND_KERNEL_HERE(R)                                                               \
  namespace tessera {                                                                        \
  HWY_EXPORT(run_##R);                                                                       \
  RoundKernel round_kernel(const R& relation) {                                              \
    return vector_kernel<R>(relation, [](const R& r, const RoundRun& run, RoundSums& sums) { \
      return HWY_DYNAMIC_DISPATCH(run_##R)(r, run, sums);                                    \
    });                                                                                      \
  }                                                                                          \
  }
#else
#define TESSERA_ROUND_KERNEL(R) TESSERA_ROUND_KERNEL_HERE(R)
#endif

#endif
