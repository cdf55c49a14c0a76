// Arithmetic in E on vectors that hold coordinates apart, compiled once for every instruction set (see Highway's
// foreach_target.h): include it from a file that is itself such an include.
#if defined(TESSERA_VECTOR_EXTENSION_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESSERA_VECTOR_EXTENSION_INL
#undef TESSERA_VECTOR_EXTENSION_INL
#else
#define TESSERA_VECTOR_EXTENSION_INL
#endif

#include "field/goldilocks-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tessera::HWY_NAMESPACE {
#if HWY_TARGET != HWY_SCALAR

/// Elements of E.
struct VE {
  V c0;
  V c1;
};
/// A factor with 7*c1 at hand.
struct VFactor {
  V c0;
  V c1;
  V seven_c1;
};

HWY_INLINE VE broadcast(E a) { return {constant(a.c0.value()), constant(a.c1.value())}; }
HWY_INLINE VFactor factor(VE a) { return {a.c0, a.c1, times_seven(a.c1)}; }
HWY_INLINE VE add(VE a, VE b) { return {add(a.c0, b.c0), add(a.c1, b.c1)}; }
HWY_INLINE VE subtract(VE a, VE b) { return {subtract(a.c0, b.c0), subtract(a.c1, b.c1)}; }

/// Products summed before reduction.
struct WideE {
  Products c0;
  Products c1;
};
HWY_INLINE WideE no_products_apart() { return {no_product(), no_product()}; }
HWY_INLINE WideE multiply_wide(VE a, VFactor b) {
  return {add_product(multiply_wide(a.c0, b.c0), a.c1, b.seven_c1), add_product(multiply_wide(a.c0, b.c1), a.c1, b.c0)};
}
HWY_INLINE WideE add_product(WideE sum, VE a, VFactor b) {
  return {add_product(add_product(sum.c0, a.c0, b.c0), a.c1, b.seven_c1),
          add_product(add_product(sum.c1, a.c0, b.c1), a.c1, b.c0)};
}
HWY_INLINE WideE carried(WideE sum) { return {carried(sum.c0), carried(sum.c1)}; }
HWY_INLINE VE reduce(WideE value) { return {reduce(value.c0), reduce(value.c1)}; }
/// Reduces to elements that need not be canonical and are good as left factors.
HWY_INLINE VE reduce_weak(WideE value) { return {reduce_weak(value.c0), reduce_weak(value.c1)}; }
HWY_INLINE VE multiply(VE a, VFactor b) { return reduce(multiply_wide(a, b)); }
/// low + challenge*(high - low).
HWY_INLINE VE on_line(VE low, VE high, VFactor challenge) {
  const WideE product = multiply_wide(subtract(high, low), challenge);
  return {reduce_and_add(product.c0, low.c0), reduce_and_add(product.c1, low.c1)};
}

HWY_INLINE VE multiply_small(VE a, V small) { return {multiply_small(a.c0, small), multiply_small(a.c1, small)}; }

/// Sum of all lanes.
HWY_INLINE E sum_lanes(VE a) { return {sum_lanes(a.c0), sum_lanes(a.c1)}; }

#endif
}  // namespace tessera::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
