#include "sumcheck/round_kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sumcheck/bind_lowest_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/vector_interleaved-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// How many pairs it has bound: those that fill vectors.
#if HWY_TARGET == HWY_SCALAR
std::size_t bind_vectors(const E*, E*, std::size_t, E) { return 0; }
#else
std::size_t bind_vectors(const E* table, E* bound, std::size_t pairs, E challenge_value) {
  const ElementFactor challenge = element_factor(challenge_value);
  const std::size_t n = elements_per_vector();
  std::size_t x = 0;
  for (; x + n <= pairs; x += n) {
    const Halves pair = split_pairs(load_elements(table + 2 * x), load_elements(table + 2 * x + n));
    store_elements(elements_on_line(pair.even, pair.odd, challenge), bound + x);
  }
  return x;
}
#endif

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(bind_vectors);

void bind_lowest(const E* table, E* bound, std::size_t pairs, E challenge) {
  for (std::size_t x = HWY_DYNAMIC_DISPATCH(bind_vectors)(table, bound, pairs, challenge); x < pairs; ++x) {
    bound[x] = on_line(table[2 * x], table[2 * x + 1], challenge);
  }
}

}  // namespace tessera
#endif  // HWY_ONCE
