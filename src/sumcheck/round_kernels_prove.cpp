#include <tessera/sumcheck/sumcheck_prove.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sumcheck/round_kernels_prove.cpp"
#include <hwy/foreach_target.h>

#include <tessera/field/vector_extension-inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

HWY_INLINE const std::uint64_t* words(const E* table) { return reinterpret_cast<const std::uint64_t*>(table); }
HWY_INLINE std::uint64_t* words(E* table) { return reinterpret_cast<std::uint64_t*>(table); }

/// v[0]*v[terms] + v[1]*v[terms+1] + ...
struct Products {
  std::size_t terms;
  HWY_INLINE VE operator()(const VE* v) const {
    WideE sum = multiply_wide(v[0], factor(v[terms]));
    for (std::size_t k = 1; k < terms; ++k) {
      sum = add_product(sum, v[k], factor(v[terms + k]));
    }
    return reduce(sum);
  }
};
struct SingleProduct {
  HWY_INLINE VE operator()(const VE* v) const { return multiply(v[0], factor(v[1])); }
};
struct TripleProduct {
  HWY_INLINE VE operator()(const VE* v) const { return multiply(multiply(v[0], factor(v[1])), factor(v[2])); }
};
/// v[0]*(v[1]-v[2])*v[3]*v[4] + lambda*v[5]*v[1]^2
struct Norm {
  VFactor lambda;
  HWY_INLINE VE operator()(const VE* v) const {
    const VE scaled = multiply(v[3], factor(v[4]));
    const VE weighted = multiply(v[0], factor(subtract(v[1], v[2])));
    const VE square = multiply(v[1], factor(v[1]));
    const VE second = multiply(v[5], lambda);
    return reduce(add_product(multiply_wide(weighted, factor(scaled)), second, factor(square)));
  }
};

template <std::size_t degree, class Form>
HWY_INLINE void sum_round(const Form& form, E* const* tables, std::size_t factors, std::size_t pairs, const E* weights,
                          E* sums) {
  const Lanes d;
  VE total[degree + 1];
  for (VE& sum : total) {
    sum = {constant(0), constant(0)};
  }
  for (std::size_t x = 0; x < pairs; x += hn::Lanes(d)) {
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
      hn::LoadInterleaved2(d, words(weights + x), loaded.c0, loaded.c1);
      weight = factor(loaded);
    }
    for (std::size_t at = 0; at <= degree; ++at) {
      const VE result = form(value);
      total[at] = add(total[at], weights == nullptr ? result : multiply(result, weight));
      for (std::size_t k = 0; at < degree && k < factors; ++k) {
        value[k] = add(value[k], step[k]);
      }
    }
  }
  for (std::size_t at = 0; at <= degree; ++at) {
    sums[at] = sum_lanes(total[at]);
  }
}

void sum_round_of(const VectorForm& form, E* const* tables, std::size_t factors, std::size_t pairs, const E* weights,
                  E* sums) {
  switch (form.kind) {
    case VectorForm::Kind::products:
      return form.terms == 1 ? sum_round<2>(SingleProduct{}, tables, factors, pairs, weights, sums)
                             : sum_round<2>(Products{form.terms}, tables, factors, pairs, weights, sums);
    case VectorForm::Kind::triple_product:
      return sum_round<3>(TripleProduct{}, tables, factors, pairs, weights, sums);
    case VectorForm::Kind::norm:
      return sum_round<4>(Norm{factor(broadcast(form.lambda))}, tables, factors, pairs, weights, sums);
  }
}

/// In place: what is written lies at or below what has been read.
void bind_pairs(E* table, std::size_t pairs, E challenge_value) {
  const Lanes d;
  const VFactor challenge = factor(broadcast(challenge_value));
  for (std::size_t x = 0; x < pairs; x += hn::Lanes(d)) {
    VE low;
    VE high;
    hn::LoadInterleaved4(d, words(table + 2 * x), low.c0, low.c1, high.c0, high.c1);
    const VE bound = on_line(low, high, challenge);
    hn::StoreInterleaved2(bound.c0, bound.c1, d, words(table + x));
  }
}

std::size_t lane_count() { return hn::Lanes(Lanes()); }

#else

void sum_round_of(const VectorForm&, E* const*, std::size_t, std::size_t, const E*, E*) {}
void bind_pairs(E*, std::size_t, E) {}
std::size_t lane_count() { return 0; }

#endif
}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(sum_round_of);
HWY_EXPORT(bind_pairs);
HWY_EXPORT(lane_count);

bool vector_round(const VectorForm& form, std::span<E* const> tables, std::size_t pairs, std::span<const E> weights,
                  RoundSums& sums) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(lane_count)();
  if (lanes == 0 || pairs % lanes != 0) {
    return false;
  }
  HWY_DYNAMIC_DISPATCH(sum_round_of)
  (form, tables.data(), tables.size(), pairs, weights.empty() ? nullptr : weights.data(), sums.data());
  return true;
}

void bind_lowest(E* table, std::size_t pairs, E challenge) {
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(lane_count)();
  if (lanes != 0 && pairs % lanes == 0) {
    HWY_DYNAMIC_DISPATCH(bind_pairs)(table, pairs, challenge);
    return;
  }
  for (std::size_t x = 0; x < pairs; ++x) {
    table[x] = table[2 * x] + challenge * (table[2 * x + 1] - table[2 * x]);
  }
}

}  // namespace tessera
#endif  // HWY_ONCE
