#include "sumcheck/sumcheck_prove.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sumcheck/round_kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/vector_interleaved-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

HWY_INLINE const std::uint64_t* words(const E* table) { return reinterpret_cast<const std::uint64_t*>(table); }

struct TripleProduct {
  static constexpr bool homogeneous = true;
  HWY_INLINE VE operator()(const VE* v) const { return multiply(multiply(v[0], factor(v[1])), factor(v[2])); }
};
/// v[0]*(v[1]-v[2])*v[3]*v[4] + lambda*v[5]*v[1]^2
struct Norm {
  static constexpr bool homogeneous = false;
  VFactor lambda;
  HWY_INLINE VE operator()(const VE* v) const {
    const VE scaled = multiply(v[3], factor(v[4]));
    const VE weighted = multiply(v[0], factor(subtract(v[1], v[2])));
    const VE square = multiply(v[1], factor(v[1]));
    const VE second = multiply(v[5], lambda);
    return reduce(add_product(multiply_wide(weighted, factor(scaled)), second, factor(square)));
  }
};

/// Adds the sums of all pairs of a block, times `scale`: see RoundSums.
template <std::size_t degree, class Form>
HWY_INLINE void sum_block(const Form& form, E* const* tables, std::size_t factors, std::size_t first, std::size_t last,
                          const E* weights, bool with_one, E scale, E* sums) {
  const Lanes d;
  VE total[degree + 1];
  for (VE& sum : total) {
    sum = {constant(0), constant(0)};
  }
  for (std::size_t x = first; x < last; x += hn::Lanes(d)) {
    VE value[max_factors];
    VE step[max_factors];
    for (std::size_t k = 0; k < factors; ++k) {
      V high0;
      V high1;
      hn::LoadInterleaved4(d, words(tables[k] + 2 * x), value[k].c0, value[k].c1, high0, high1);
      step[k] = subtract(VE{high0, high1}, value[k]);
    }
    VFactor weight{};
    if (weights != nullptr) {
      VE loaded;
      hn::LoadInterleaved2(d, words(weights + (x - first)), loaded.c0, loaded.c1);
      weight = factor(loaded);
    }
    for (std::size_t at = 0; at <= degree; ++at) {
      if (at != 1 || with_one) {
        const VE result = form(Form::homogeneous && at == degree ? step : value);
        total[at] = add(total[at], weights == nullptr ? result : multiply(result, weight));
      }
      for (std::size_t k = 0; at < degree && k < factors; ++k) {
        value[k] = add(value[k], step[k]);
      }
    }
  }
  for (std::size_t at = 0; at <= degree; ++at) {
    sums[at] += sum_lanes(total[at]) * scale;
  }
}

template <std::size_t degree, class Form>
HWY_INLINE void sum_round(const Form& form, E* const* tables, std::size_t factors, std::size_t pairs,
                          const RoundWeights& weights, bool with_one, E* sums) {
  if (weights.empty()) {
    return sum_block<degree>(form, tables, factors, 0, pairs, nullptr, with_one, E::one(), sums);
  }
  for (std::size_t first = 0; first < pairs; first += weights.block()) {
    sum_block<degree>(form, tables, factors, first, first + weights.block(), weights.low(), with_one,
                      weights.high()[first / weights.block()], sums);
  }
}

/// Pairs of f and g from tables that are bound already.
struct BoundPairs {
  const E* f;
  const E* g;
  HWY_INLINE Halves load_f(std::size_t x) const { return load(f, x); }
  HWY_INLINE Halves load_g(std::size_t x) const { return load(g, x); }
  static HWY_INLINE Halves load(const E* table, std::size_t x) {
    return split_pairs(load_elements(table + 2 * x), load_elements(table + 2 * x + elements_per_vector()));
  }
};
/// Pairs of f and g from tables whose lowest variable is bound and stored on the way. In place: what is written lies at
/// or below what has been read.
struct BindingPairs {
  const E* f;
  const E* g;
  E* bound_f;
  E* bound_g;
  ElementFactor challenge;
  HWY_INLINE Halves load_f(std::size_t x) const { return load(f, bound_f, x); }
  HWY_INLINE Halves load_g(std::size_t x) const { return load(g, bound_g, x); }
  HWY_INLINE Halves load(const E* table, E* bound, std::size_t x) const {
    const std::size_t n = elements_per_vector();
    const Halves first = BoundPairs::load(table, 2 * x);
    const Halves second = BoundPairs::load(table, 2 * x + n);
    const V low = elements_on_line(first.even, first.odd, challenge);
    const V high = elements_on_line(second.even, second.odd, challenge);
    store_elements(low, bound + 2 * x);
    store_elements(high, bound + 2 * x + n);
    return split_pairs(low, high);
  }
};

/// Adds the sums of f*g's values at 0, its coefficients of X^2 and, `with_one`, its values at 1, over the pairs
/// first .. last-1, to totals[0], [2] and [1].
template <bool weighted, bool with_one, class Pairs>
HWY_INLINE void sum_products_block(const Pairs& pairs, std::size_t first, std::size_t last, const RoundWeights& weights,
                                   V* totals) {
  ProductSum sums[3] = {no_products(), no_products(), no_products()};
  for (std::size_t x = first; x < last; x += elements_per_vector()) {
    const Halves f = pairs.load_f(x);
    const Halves g = pairs.load_g(x);
    V low = f.even;
    V step = subtract(f.odd, f.even);
    if constexpr (weighted) {
      const ElementFactor weight{load_elements(weights.low() + (x - first)),
                                 load_elements(weights.low_crossed() + (x - first))};
      low = reduce_weak(multiply_elements_wide(low, weight));
      step = reduce_weak(multiply_elements_wide(step, weight));
    }
    sums[0] = add_elements_product(sums[0], low, g.even);
    sums[2] = add_elements_product(sums[2], step, subtract(g.odd, g.even));
    if constexpr (with_one) {
      sums[1] = add_elements_product(sums[1], weighted ? add(canonical(low), canonical(step)) : f.odd, g.odd);
    }
  }
  for (std::size_t at = 0; at <= 2; ++at) {
    if (at == 1 && !with_one) {
      continue;
    }
    const V sum = reduce(sums[at]);
    totals[at] = add(totals[at],
                     weighted ? multiply_elements(sum, element_factor(weights.high()[first / weights.block()])) : sum);
  }
}

template <bool with_one, class Pairs>
HWY_INLINE void sum_products(const Pairs& pairs, std::size_t count, const RoundWeights& weights, E* sums) {
  V totals[3] = {constant(0), constant(0), constant(0)};
  if (weights.empty()) {
    sum_products_block<false, with_one>(pairs, 0, count, weights, totals);
  }
  for (std::size_t first = 0; !weights.empty() && first < count; first += weights.block()) {
    sum_products_block<true, with_one>(pairs, first, first + weights.block(), weights, totals);
  }
  for (std::size_t at = 0; at <= 2; ++at) {
    sums[at] += sum_elements(totals[at]);
  }
}

void sum_round_of(const VectorForm& form, E* const* tables, std::size_t factors, std::size_t pairs,
                  const RoundWeights& weights, bool with_one, E* sums) {
  switch (form.kind) {
    case VectorForm::Kind::products:
      for (std::size_t k = 0; k < form.terms; ++k) {
        const BoundPairs term{tables[k], tables[form.terms + k]};
        with_one ? sum_products<true>(term, pairs, weights, sums) : sum_products<false>(term, pairs, weights, sums);
      }
      return;
    case VectorForm::Kind::triple_product:
      return sum_round<3>(TripleProduct{}, tables, factors, pairs, weights, with_one, sums);
    case VectorForm::Kind::norm:
      return sum_round<4>(Norm{factor(broadcast(form.lambda))}, tables, factors, pairs, weights, with_one, sums);
  }
}

void bind_products(const E* f, const E* g, E* bound_f, E* bound_g, std::size_t pairs, E challenge,
                   const RoundWeights& weights, E* sums) {
  sum_products<false>(BindingPairs{f, g, bound_f, bound_g, element_factor(challenge)}, pairs, weights, sums);
}

void bind_pairs(const E* table, E* bound, std::size_t pairs, E challenge_value) {
  const ElementFactor challenge = element_factor(challenge_value);
  for (std::size_t x = 0; x < pairs; x += elements_per_vector()) {
    const Halves pair = BoundPairs::load(table, x);
    store_elements(elements_on_line(pair.even, pair.odd, challenge), bound + x);
  }
}

std::size_t lane_count() { return hn::Lanes(Lanes()); }

#else

void sum_round_of(const VectorForm&, E* const*, std::size_t, std::size_t, const RoundWeights&, bool, E*) {}
void bind_products(const E*, const E*, E*, E*, std::size_t, E, const RoundWeights&, E*) {}
void bind_pairs(const E*, E*, std::size_t, E) {}
std::size_t lane_count() { return 0; }

#endif
}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(sum_round_of);
HWY_EXPORT(bind_products);
HWY_EXPORT(bind_pairs);
HWY_EXPORT(lane_count);

namespace {

bool fill_vectors(std::size_t pairs) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(lane_count)();
  return lanes != 0 && pairs % lanes == 0;
}

}  // namespace

bool vector_round(const VectorForm& form, std::span<E* const> tables, std::size_t pairs, const RoundWeights& weights,
                  bool with_one, RoundSums& sums) {
  if (!fill_vectors(pairs)) {
    return false;
  }
  HWY_DYNAMIC_DISPATCH(sum_round_of)
  (form, tables.data(), tables.size(), pairs, weights, with_one, sums.data());
  return true;
}

bool vector_bind_products(const E* f, const E* g, E* bound_f, E* bound_g, std::size_t pairs, E challenge,
                          const RoundWeights& weights, RoundSums& sums) {
  if (!fill_vectors(pairs)) {
    return false;
  }
  HWY_DYNAMIC_DISPATCH(bind_products)(f, g, bound_f, bound_g, pairs, challenge, weights, sums.data());
  return true;
}

void bind_lowest(const E* table, E* bound, std::size_t pairs, E challenge) {
  if (fill_vectors(pairs)) {
    HWY_DYNAMIC_DISPATCH(bind_pairs)(table, bound, pairs, challenge);
    return;
  }
  for (std::size_t x = 0; x < pairs; ++x) {
    bound[x] = table[2 * x] + challenge * (table[2 * x + 1] - table[2 * x]);
  }
}

}  // namespace tessera
#endif  // HWY_ONCE
