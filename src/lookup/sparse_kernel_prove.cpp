#include "lookup/level_rounds.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lookup/sparse_kernel_prove.cpp"
#include <hwy/foreach_target.h>

#include "field/vector_interleaved-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {

/// Children on the line through two nodes': four elements side by side in memory.
HWY_INLINE void put_on_line(const Children& low, const Children& high, E challenge, Children& out) {
#if HWY_TARGET == HWY_SCALAR
  out = on_line(low, high, challenge);
#else
  const ElementFactor factor = element_factor(challenge);
  for (std::size_t i = 0; i < 4; i += elements_per_vector()) {
    store_elements(elements_on_line(load_elements(&low.p0 + i), load_elements(&high.p0 + i), factor), &out.p0 + i);
  }
#endif
}

std::size_t bind_pairs_in_place(std::span<SparseNode> nodes, E challenge) {
  const Children neutral;
  std::size_t bound = 0;
  for (std::size_t i = 0; i < nodes.size(); ++bound) {
    const std::uint64_t pair = nodes[i].index / 2;
    const bool has_low = nodes[i].index % 2 == 0;
    const Children& low = has_low ? nodes[i++].children : neutral;
    const bool has_high = i < nodes.size() && nodes[i].index == 2 * pair + 1;
    const Children& high = has_high ? nodes[i++].children : neutral;
    put_on_line(low, high, challenge, nodes[bound].children);
    nodes[bound].index = pair;
  }
  return bound;
}

}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tessera {
HWY_EXPORT(bind_pairs_in_place);

static_assert(sizeof(Children) == 4 * sizeof(E));

std::size_t bind_pairs_in_place(std::span<SparseNode> nodes, E challenge) {
  return HWY_DYNAMIC_DISPATCH(bind_pairs_in_place)(nodes, challenge);
}

}  // namespace tessera
#endif  // HWY_ONCE
